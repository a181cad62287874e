"""A setup: what is compared. `setups/NAME.toml`."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from schemas.cell import CORRECT_AT, GROUNDED_AT
from schemas.claude import ClaudeDrafterSettings, ClaudeJudgeSettings, ClaudeReaderSettings, ClaudeWriterSettings
from schemas.record import Record


class SplitByTokens(Record):
    """Chunks of at most `max_tokens`, cut at the best Markdown border, `overlap_tokens` shared by neighbours."""

    by: Literal["tokens"] = "tokens"
    max_tokens: int = Field(default=512, ge=16, le=100_000)
    overlap_tokens: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _overlap_is_smaller(self) -> Self:
        if self.overlap_tokens * 2 > self.max_tokens:
            msg = f"overlap_tokens is at most half of max_tokens ({self.max_tokens // 2})"
            raise ValueError(msg)
        return self


class SplitByHeading(Record):
    """One chunk per Markdown heading with the text under it, however long.

    Attributes:
        max_level: Deeper headings stay inside their chunk: 1 makes a chunk of everything under a "# " heading.
    """

    by: Literal["heading"]
    max_level: int = Field(default=6, ge=1, le=6)


class SplitNot(Record):
    """The whole document is one chunk."""

    by: Literal["document"]


def _by_tokens(splitting: object) -> object:
    """What names no way of splitting splits by tokens, as the whole table does when it is left out."""
    return {"by": "tokens", **splitting} if isinstance(splitting, dict) and "by" not in splitting else splitting


Splitting = Annotated[
    Annotated[SplitByTokens | SplitByHeading | SplitNot, Field(discriminator="by")], BeforeValidator(_by_tokens)
]


class Retrieval(Record):
    """BM25 (Lucene's variant) over the chunks.

    Attributes:
        depth: How many passages a stored ranking holds at most; any k up to it comes from one ranking.
        stemmer: A Snowball language, or "none".
    """

    method: Literal["bm25"] = "bm25"
    k1: float = Field(default=1.2, ge=0, le=10)
    b: float = Field(default=0.75, ge=0, le=1)
    stemmer: str = "english"
    depth: int = Field(default=50, ge=1, le=10_000)


class ContextSettings(Record):
    """How the first `k` passages of the ranking become the writer's context.

    Attributes:
        neighbours: Chunks either side in the same document that are given too, merged where they touch.
    """

    k: int = Field(default=5, ge=1, le=1_000)
    neighbours: int = Field(default=0, ge=0, le=100)


class OfflineWriterSettings(Record):
    """The built-in extractive writer.

    Attributes:
        sentences: At most so many sentences make an answer.
        passages: Only the first so many passages of the context are used.
        abstain_below: Match between 0 and 1 under which it says that the passages do not answer; 0 always answers.
    """

    provider: Literal["offline"] = "offline"
    sentences: int = Field(default=3, ge=1, le=50)
    passages: int = Field(default=5, ge=1, le=1_000)
    abstain_below: float = Field(default=0.0, ge=0, le=1)


def _named_provider(seat: Any) -> Any:  # noqa: ANN401 - whatever somebody wrote
    """A seat without a provider is offline; one that names a model has to say whose it is.

    Raises:
        ValueError: When it does not.
    """
    if not isinstance(seat, dict) or "provider" in seat:
        return seat
    if "model" in seat:
        msg = "model needs a provider beside it: anthropic, bedrock or vertex"
        raise ValueError(msg)
    return {**seat, "provider": "offline"}


_OfflineByDefault = BeforeValidator(_named_provider)

WriterSettings = Annotated[
    Annotated[OfflineWriterSettings | ClaudeWriterSettings, Field(discriminator="provider")], _OfflineByDefault
]


class Setup(Record):
    """What is compared: either a way to answer, or a file of answers that somebody saved.

    Attributes:
        answers: A file under `answers/`; then nothing else may be set.
    """

    name: str
    answers: str | None = None
    splitting: Splitting = SplitByTokens()
    retrieval: Retrieval = Retrieval()
    context: ContextSettings = ContextSettings()
    writer: WriterSettings = OfflineWriterSettings()

    @model_validator(mode="after")
    def _fits(self) -> Self:
        # Compared with the defaults, since a plan that is read back has every field set.
        extra = [
            name
            for name, field in type(self).model_fields.items()
            if name not in {"name", "answers"} and getattr(self, name) != field.default
        ]
        if self.answers is not None and extra:
            msg = f"a setup of saved answers takes no {', '.join(sorted(extra))}"
            raise ValueError(msg)
        if self.context.k > self.retrieval.depth:
            msg = f"context.k ({self.context.k}) is larger than retrieval.depth ({self.retrieval.depth})"
            raise ValueError(msg)
        return self


class OfflineReaderSettings(Record):
    """The built-in sentence reader."""

    provider: Literal["offline"] = "offline"


class OfflineJudgeSettings(Record):
    """The built-in lexical judge."""

    provider: Literal["offline"] = "offline"


ReaderSettings = Annotated[
    Annotated[OfflineReaderSettings | ClaudeReaderSettings, Field(discriminator="provider")], _OfflineByDefault
]
JudgeSettings = Annotated[
    Annotated[OfflineJudgeSettings | ClaudeJudgeSettings, Field(discriminator="provider")], _OfflineByDefault
]


class Judge(Record):
    """Who grades. `judges/NAME.toml`; independent of setups.

    Attributes:
        drafter: Who drafts key points for `fourcells keypoints draft`; it grades nothing.
    """

    name: str
    reader: ReaderSettings = OfflineReaderSettings()
    judge: JudgeSettings = OfflineJudgeSettings()
    drafter: ClaudeDrafterSettings | None = None


class Grading(Record):
    """`grading.toml`: thresholds and cuts of METRICS.md; reports print the values used.

    Attributes:
        k: Cuts at which the ranking is measured.
        budget_tokens: The text budget of `recall@…t`.
        grounded_at: Least groundedness of an answer that counts as grounded.
        correct_at: Least vital coverage of an answer that counts as correct.
    """

    k: tuple[Annotated[int, Field(ge=1)], ...] = Field(default=(1, 3, 5, 10), min_length=1)
    budget_tokens: int = Field(default=2_000, ge=1)
    grounded_at: float = Field(default=GROUNDED_AT, ge=0, le=1)
    correct_at: float = Field(default=CORRECT_AT, ge=0, le=1)
