"""Generated workspaces of any size: pseudo-words as frequent as Zipf's law says, sentences, gold quotes, key points."""

import json
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

_SEED: Final = 20_261
_N_WORDS: Final = 30_000
_SENTENCES: Final = 8
_ENDINGS: Final = ("", "", "", "s", "ed", "ing", "er", "ation")
# English function words around them, so that sentences are found, stop words left out and questions read.
_FRAMES: Final = (
    "The {} {} of a {} {} {} the {} for {} {} in {}.",
    "When the {} is {}, the {} {} has to {} at least {} {} before the {}.",
    "A {} {} can {} the {} {} only after {} {} of {}.",
    "In {} every {} {} that is not {} costs {} {} and a {} {}.",
    "If a {} {} was {} by the {}, it takes {} {} until the {} is {} again.",
)
_N_FRAME_NUMBER: Final = {0: 6, 1: 5, 2: 5, 3: 4, 4: 4}


class Section(NamedTuple):
    """A heading with its sentences; it becomes one chunk."""

    title: str
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        """As it stands in a document."""
        return f"## {self.title}\n\n{' '.join(self.sentences)}"


class Language:
    """A seeded source of words and sentences.

    Args:
        seed: The same seed gives the same texts.
    """

    def __init__(self, seed: int = _SEED) -> None:
        self.random = Random(seed)  # noqa: S311 - texts, not secrets
        self._words = list(self._vocabulary())
        self._weights = list(accumulate(1 / (rank + 10) for rank in range(_N_WORDS)))
        self.rank = {word: rank for rank, word in enumerate(self._words)}

    def _vocabulary(self) -> Iterator[str]:
        syllables = [a + b for a in "bcdfghklmnprstvwz" for b in ("a", "e", "i", "o", "u", "ai", "or", "en")]
        seen: set[str] = set()
        while len(seen) < _N_WORDS:
            word = "".join(self.random.choices(syllables, k=self.random.choice((2, 2, 3, 3, 4))))
            word += self.random.choice(_ENDINGS)
            if word not in seen:
                seen.add(word)
                yield word

    def words(self, n: int) -> list[str]:
        """Words by Zipf's law."""
        return self.random.choices(self._words, cum_weights=self._weights, k=n)

    def sentence(self) -> str:
        """A sentence of about eight of our words, a number among them."""
        frame = self.random.randrange(len(_FRAMES))
        filled = self.words(_FRAMES[frame].count("{}"))
        filled[_N_FRAME_NUMBER[frame]] = str(self.random.randrange(2, 5_000))
        text = _FRAMES[frame].format(*filled)
        return text[0].upper() + text[1:]

    def section(self) -> Section:
        """A heading and eight sentences."""
        return Section(" ".join(self.words(2)).capitalize(), tuple(self.sentence() for _ in range(_SENTENCES)))


def write_workspace(folder: Path, *, n_documents: int, n_sections: int, n_questions: int) -> Path:
    """A workspace of one setup; a document is a title and `n_sections` sections, each of which is one chunk.

    One question in ten is unanswerable. The others ask for a sentence, which is their gold and first key point;
    the second point is the sentence after it.
    """
    language = Language()
    pages = [[language.section() for _ in range(n_sections)] for _ in range(n_documents)]
    for number, page in enumerate(pages):
        path = folder / "corpus" / f"{number // 100:03d}" / f"{number:05d}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(section.text for section in page) + "\n", encoding="utf-8")
    points: dict[str, list[dict[str, object]]] = {}
    with (folder / "questions.jsonl").open("w", encoding="utf-8") as file:
        for number in range(n_questions):
            place = language.random.randrange(n_documents)
            section = language.random.choice(pages[place])
            question, own = _question(language, number, section, f"{place // 100:03d}/{place:05d}.md")
            file.write(json.dumps(question) + "\n")
            if own:
                points[str(question["id"])] = own
    (folder / "keypoints.json").write_text(json.dumps(points), encoding="utf-8")
    for name, text in (("setups/plain.toml", '[splitting]\nby = "heading"\n'), ("judges/offline.toml", "")):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def _question(
    language: Language, number: int, section: Section, document: str
) -> tuple[dict[str, object], list[dict[str, object]]]:
    name = f"q{number:06d}"
    if number % 10 == 0:
        return {"id": name, "text": asking(language, language.sentence()), "answerable": "no"}, []
    at = language.random.randrange(_SENTENCES - 1)
    told = section.sentences[at : at + 2]
    gold = [{"document": document, "quote": told[0]}]
    points: list[dict[str, object]] = [
        {"id": f"{name}.{place}", "text": text, "gold": [{"document": document, "quote": text}]}
        for place, text in enumerate(told)
    ]
    return {"id": name, "text": asking(language, told[0]), "gold": gold}, points


def asking(language: Language, sentence: str) -> str:
    """A question made of four of a sentence's words, rare ones rather than frequent ones."""
    known = [word for word in sentence.lower().replace(",", "").strip(".").split() if word in language.rank]
    a, b, c, d = sorted(known, key=language.rank.__getitem__)[-4:]
    return f"How does the {a} {c} work when a {b} has {d}?"
