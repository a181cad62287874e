"""Measure the offline judge and write the section "Judges" of RESULTS.md: `make bench-judges`."""

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from schemas.cell import Label
from schemas.verdict import PointWord
from tasks.models.offline_judge import THRESHOLDS
from tasks.models.versions import OFFLINE_JUDGE
from tests.bench.balanced import Compared, Estimate, mean_of
from tests.bench.judging_data import read_answers, read_claims, read_key_points
from tests.bench.labelled import Levels, OnSources, judge_answers, judge_claims, judge_points, on_points, on_sources
from tests.bench.planted import Answer, judge_planted, measured_cells
from tests.bench.results_page import machine, table, write_section

_DATA: Final = "FOURCELLS_REAL_DATA"
# The README of the judging folder: a word-overlap baseline tuned on dev, as its authors report it.
_README: Final = {
    "factcheck_gpt": 0.65,
    "scifact": 0.68,
    "q2": 0.61,
    "summedits": 0.48,
    "begin_wow": 0.87,
    "fever_symmetric": 0.65,
}
_PACKAGES: Final = ("fourcells", "PyStemmer", "numpy", "pyarrow")
_BEYOND: Final = (
    "worked out, or taken from the question. The quote check (METRICS.md §3) lets no judge call those supported."
)
_COLUMNS: Final = ("rows", "clusters", "offline judge", "overlap, this run", "difference")


def main() -> int:
    """Measure everything, or say what is missing."""
    folder = Path(os.environ.get(_DATA) or "?") / "judging"
    if not folder.is_dir():
        sys.stderr.write(
            f"bench-judges needs the labelled sets and found none: {_DATA} has to name a folder that holds "
            "judging/claims.parquet, key_points.parquet and answers.parquet. "
            f"Say: make bench-judges {_DATA}=FOLDER\n"
        )
        return 2
    began = time.perf_counter()
    parts = [*_labelled_parts(folder), *_planted_parts()]
    head = (
        f"Written by `make bench-judges`. {machine(_PACKAGES)}. Offline judge version {OFFLINE_JUDGE}, supported at "
        f"{THRESHOLDS.supported}, partly at {THRESHOLDS.partly}: one configuration for everything below. "
        f"{time.perf_counter() - began:.0f} s in all."
    )
    write_section("Judges", "\n\n".join([head, *parts]))
    return 0


def _labelled_parts(folder: Path) -> Iterator[str]:
    claims = read_claims(folder)
    began = time.perf_counter()
    on_claims = on_sources(judge_claims(claims))
    seconds = time.perf_counter() - began
    yield "### Claims people labelled"
    yield (
        "Balanced accuracy: is a claim that people found supported by its context given SUPPORTED, and no other? "
        "Intervals (95 %) resample contexts. Settings and thresholds, one for all sources, were chosen on dev and "
        "train; scifact is reported on dev (chosen on train), all others on test. The first column of overlap is "
        "copied from the README of the data; the second is the share of a claim's telling stems found anywhere in "
        f"the context, supported at {on_claims.threshold}, and the difference is paired with it. "
        f"{len(claims)} claims, {seconds:.0f} s, {1000 * seconds / len(claims):.2f} ms a claim with its quote check "
        "and the baseline."
    )
    yield _claims_table(on_claims)
    yield from _points_part(folder)
    answers = read_answers(folder)
    yield "### Answers people graded"
    on_answers = on_sources(judge_answers(answers))
    yield (
        "Is an answer that people found right `correct` against the points that its reference answer splits into "
        "(`fourcells keypoints from-references`), and no other? Of references that are right alike, one suffices. "
        f"Test rows; clusters are questions; the baseline's threshold of {on_answers.threshold} was chosen on dev."
    )
    yield _table("source", on_answers.by_source)


def _claims_table(found: OnSources) -> str:
    rows = []
    mean = mean_of(list(found.by_source.values()))
    given = [_README[source] for source in found.by_source]
    for source, one in {**found.by_source, "mean of sources": mean}.items():
        readme = _README.get(source, sum(given) / len(given))
        n_rows, n_clusters, judge, baseline, difference = _cells(one)
        rows.append((source, n_rows, n_clusters, judge, f"{readme:.2f}", baseline, difference))
    columns = ("source", "claims", "contexts", "offline judge", "overlap, their README", *_COLUMNS[3:])
    return table(columns, rows)


def _points_part(folder: Path) -> Iterator[str]:
    points = read_key_points(folder)
    borders, levels = on_points(points, judge_points(points))
    yield "### Key points people labelled"
    thresholds = ", ".join(f"{name}: {one.threshold}" for name, one in borders.items())
    yield (
        "Key points of long summaries, each fully, partly or not covered by an answer; PARTLY and COVERED count as "
        f"any of it. Test rows; clusters are answers; the baseline's thresholds were chosen on dev ({thresholds})."
    )
    yield _table("border", {name: one.by_source["summhay"] for name, one in borders.items()})
    yield _levels(levels)


def _levels(levels: Levels) -> str:
    return (
        f"All three levels agree on {levels.judge:.3f} of the points, with overlap on {levels.baseline:.3f}; "
        f"always saying the commonest level would agree on {levels.commonest:.3f}."
    )


def _planted_parts() -> Iterator[str]:
    answers = judge_planted()
    yield "### Mistakes planted in the built-in workspace"
    yield (
        "Setup `assistant`: the planted claims themselves are judged against the passages that the assistant was "
        "given, and the key points against its answers. The set was looked at while the judge was built, so these "
        "figures are optimistic; the tables above are not."
    )
    yield _claim_figures(answers)
    yield _by_mistake(answers)
    yield "### Cells of the whole pipeline"
    yield _confusion(measured_cells())


def _claim_figures(answers: Sequence[Answer]) -> str:
    claims = Counter(pair for answer in answers for pair in answer.claims)
    points = Counter(pair for answer in answers for pair in answer.points)
    good = sum(n for (planted, _), n in claims.items() if planted == "SUPPORTED")
    alarms = good - claims["SUPPORTED", "SUPPORTED"]
    bad = claims.total() - good
    found = sum(n for (planted, judged), n in claims.items() if planted != "SUPPORTED" != judged)
    sound = [answer for answer in answers if answer.n_good_claims and not answer.has_bad_claims]
    clean = sum(not answer.n_false_alarms for answer in sound)
    beyond = sum(answer.n_beyond_evidence for answer in answers)
    agreed = sum(n for (planted, judged), n in points.items() if planted == judged)
    return "\n".join([
        f"- Bad claims found: {_share(found, bad)}.",
        f"- False alarms, good claims not given SUPPORTED: {_share(alarms, good)}.",
        f"- Among them {beyond} with a number that no passage has: {_BEYOND}",
        f"- Answers with good claims only that come out fully supported: {_share(clean, len(sound))}.",
        f"- Point verdicts that agree: {_share(agreed, points.total())}; {_point_words(points)}.",
    ])


def _point_words(points: Mapping[tuple[PointWord, PointWord], int]) -> str:
    words = sorted({planted for planted, _ in points})
    return ", ".join(
        f"{word} {_share(points[word, word], sum(n for (planted, _), n in points.items() if planted == word))}"
        for word in words
    )


def _by_mistake(answers: Sequence[Answer]) -> str:
    rows = []
    for kind in sorted({answer.mistake for answer in answers if answer.mistake}):
        own = [answer for answer in answers if answer.mistake == kind]
        with_claims = [answer for answer in own if answer.has_bad_claims]
        with_points = [answer for answer in own if answer.has_bad_points]
        rows.append((
            kind.replace("_", " "),
            str(len(own)),
            _of(sum(answer.finds_claim for answer in with_claims), len(with_claims)),
            _of(sum(answer.finds_point for answer in with_points), len(with_points)),
            _of(sum(answer.finds_claim or answer.finds_point for answer in own), len(own)),
            _of(sum(answer.n_false_alarms for answer in own), sum(answer.n_good_claims for answer in own)),
        ))
    none = [answer for answer in answers if not answer.mistake]
    alarms = _of(sum(answer.n_false_alarms for answer in none), sum(answer.n_good_claims for answer in none))
    rows.append(("no mistake", str(len(none)), "-", "-", "-", alarms))
    return table(("mistake", "answers", "by a claim", "by a point", "by either", "false alarms of good claims"), rows)


def _confusion(cells: Counter[tuple[str, str]]) -> str:
    order: list[str] = [label.value for label in Label]
    seen = {label for pair in cells for label in pair}
    labels = [label for label in order if label in seen]
    rows = [(planted, *(str(cells[planted, label] or "·") for label in labels)) for planted in labels]
    agreed = sum(n for (planted, measured), n in cells.items() if planted == measured)
    grid = table(("planted (rows), measured", *labels), rows)
    return f"Reader and judge offline: {_share(agreed, cells.total())} questions in the cell planted.\n\n{grid}"


def _table(first: str, found: Mapping[str, Compared]) -> str:
    return table((first, *_COLUMNS), [(name, *_cells(one)) for name, one in found.items()])


def _cells(one: Compared) -> tuple[str, str, str, str, str]:
    difference = _shown(one.difference, sign="+")
    return str(one.n_rows), str(one.n_clusters), _shown(one.judge), _shown(one.baseline), difference


def _shown(one: Estimate, *, sign: str = "") -> str:
    return f"{one.value:{sign}.3f} [{one.low:{sign}.3f}, {one.high:{sign}.3f}]"


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.2f})" if whole else "none of 0"


def _of(part: int, whole: int) -> str:
    return f"{part}/{whole}" if whole else "-"


if __name__ == "__main__":
    sys.exit(main())
