"""The table of names: every number has one spelling, used in config, SQL, tables and code."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

Unit = Literal["fraction", "count", "words", "tokens"]
Level = Literal["ranking", "context", "claim", "answer", "point", "question"]
Better = Literal["higher", "lower"]
Parameter = Literal["k", "tokens"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """What a number is, as data.

    Attributes:
        name: Its spelling; a parametrised one is a template, `recall@k` or `recall@Nt`.
        heading: A column's heading; of a template with the placeholder that the name has.
        unit: Fractions are 0-1 everywhere and become per cent when printed.
        better: None for a number that describes and does not praise.
        level: What is counted. `claim` and `point` rates are micro: all of a setup's over all of them. The
            others count each ranking, context, answer or question once.
        meaning: One sentence.
        section: Of METRICS.md.
        parameter: What a template is given.
    """

    name: str
    heading: str
    unit: Unit
    better: Better | None
    level: Level
    meaning: str
    section: str
    parameter: Parameter | None = None


_ROWS: Final = (
    Metric(
        name="recall@k",
        heading="recall@k",
        unit="fraction",
        better="higher",
        level="ranking",
        meaning="Share of the gold entries that the first k passages complete.",
        section="2",
        parameter="k",
    ),
    Metric(
        name="hit@k",
        heading="hit@k",
        unit="fraction",
        better="higher",
        level="ranking",
        meaning="Whether the first k passages complete any gold entry.",
        section="2",
        parameter="k",
    ),
    Metric(
        name="all@k",
        heading="all@k",
        unit="fraction",
        better="higher",
        level="ranking",
        meaning="Whether the first k passages satisfy the question's gold rule.",
        section="2",
        parameter="k",
    ),
    Metric(
        name="precision@k",
        heading="precision@k",
        unit="fraction",
        better="higher",
        level="ranking",
        meaning="Passages among the first k that complete an entry not completed before, over k.",
        section="2",
        parameter="k",
    ),
    Metric(
        name="ndcg@k",
        heading="nDCG@k",
        unit="fraction",
        better="higher",
        level="ranking",
        meaning="Discounted graded gain of the first k passages over the best possible; never for span gold.",
        section="2",
        parameter="k",
    ),
    Metric(
        name="span_coverage@k",
        heading="span coverage@k",
        unit="fraction",
        better="higher",
        level="ranking",
        meaning="Share of the gold spans' characters that the first k passages cover.",
        section="2",
        parameter="k",
    ),
    Metric(
        name="mrr",
        heading="MRR",
        unit="fraction",
        better="higher",
        level="ranking",
        meaning="One over the rank of the first relevant passage, 0 when there is none.",
        section="2",
    ),
    Metric(
        name="recall@Nt",
        heading="recall @N tokens",
        unit="fraction",
        better="higher",
        level="ranking",
        meaning="Share of the gold entries that the first N tokens of the ranking complete.",
        section="2",
        parameter="tokens",
    ),
    Metric(
        name="context_recall",
        heading="context recall",
        unit="fraction",
        better="higher",
        level="context",
        meaning="Share of the gold entries that the context completes.",
        section="2",
    ),
    Metric(
        name="context_hit",
        heading="context hit",
        unit="fraction",
        better="higher",
        level="context",
        meaning="Whether the context completes any gold entry.",
        section="2",
    ),
    Metric(
        name="context_all",
        heading="context all",
        unit="fraction",
        better="higher",
        level="context",
        meaning="Whether the context satisfies the question's gold rule.",
        section="2",
    ),
    Metric(
        name="context_tokens",
        heading="context tokens",
        unit="tokens",
        better=None,
        level="context",
        meaning="Mean size of what the writer was given.",
        section="2",
    ),
    Metric(
        name="groundedness",
        heading="groundedness",
        unit="fraction",
        better="higher",
        level="answer",
        meaning="Share of one answer's claims that its context supports.",
        section="3",
    ),
    Metric(
        name="claims",
        heading="claims",
        unit="count",
        better=None,
        level="claim",
        meaning="All claims of a setup's answers.",
        section="3",
    ),
    Metric(
        name="supported_rate",
        heading="claims supported",
        unit="fraction",
        better="higher",
        level="claim",
        meaning="All supported claims over all claims.",
        section="3",
    ),
    Metric(
        name="mean_groundedness",
        heading="mean groundedness",
        unit="fraction",
        better="higher",
        level="answer",
        meaning="Mean groundedness of the answers with at least one claim.",
        section="3",
    ),
    Metric(
        name="mean_groundedness_all",
        heading="mean groundedness, vacuous 1",
        unit="fraction",
        better="higher",
        level="answer",
        meaning="Mean groundedness with answers that claim nothing as 1; only beside abstained_rate.",
        section="3",
    ),
    Metric(
        name="answers_with_unsupported",
        heading="answers with unsupported",
        unit="fraction",
        better="lower",
        level="answer",
        meaning="Share of the answers with claims in which any claim is not supported.",
        section="3",
    ),
    Metric(
        name="unverified_rate",
        heading="claims unverified",
        unit="fraction",
        better="lower",
        level="claim",
        meaning="Claims whose verdict lost its evidence over all claims.",
        section="3",
    ),
    Metric(
        name="covered_rate",
        heading="points covered",
        unit="fraction",
        better="higher",
        level="point",
        meaning="Points that the answer makes over all points.",
        section="5",
    ),
    Metric(
        name="partly_rate",
        heading="points partly",
        unit="fraction",
        better=None,
        level="point",
        meaning="Points that the answer makes in part over all points.",
        section="5",
    ),
    Metric(
        name="missing_rate",
        heading="points missing",
        unit="fraction",
        better="lower",
        level="point",
        meaning="Points that the answer leaves out over all points.",
        section="5",
    ),
    Metric(
        name="contradicted_rate",
        heading="points contradicted",
        unit="fraction",
        better="lower",
        level="point",
        meaning="Points that the answer contradicts over all points.",
        section="5",
    ),
    Metric(
        name="coverage",
        heading="coverage",
        unit="fraction",
        better="higher",
        level="answer",
        meaning="Share of the points that one answer makes, a partly made point counting half.",
        section="5",
    ),
    Metric(
        name="vital_coverage",
        heading="vital coverage",
        unit="fraction",
        better="higher",
        level="answer",
        meaning="Coverage of the vital points; none vital: of all.",
        section="5",
    ),
    Metric(
        name="mean_coverage",
        heading="mean coverage",
        unit="fraction",
        better="higher",
        level="answer",
        meaning="Mean coverage over answers.",
        section="5",
    ),
    Metric(
        name="answer_words",
        heading="answer words",
        unit="words",
        better=None,
        level="answer",
        meaning="Median length of the answers.",
        section="5",
    ),
    Metric(
        name="correct_rate",
        heading="correct",
        unit="fraction",
        better="higher",
        level="question",
        meaning="Correct answers over the answerable questions whose correctness is scored.",
        section="5",
    ),
    Metric(
        name="correct_grounded",
        heading="correct and grounded",
        unit="fraction",
        better="higher",
        level="question",
        meaning="Correct answers that their context supports, over the questions of correct_rate.",
        section="5",
    ),
    Metric(
        name="correct_not_grounded",
        heading="correct, not grounded",
        unit="fraction",
        better=None,
        level="question",
        meaning="Correct answers that their context does not support, over the questions of correct_rate.",
        section="5",
    ),
    Metric(
        name="abstained_rate",
        heading="abstained",
        unit="fraction",
        better=None,
        level="question",
        meaning="Answers that say the question is not covered, and give none, over all answers.",
        section="5",
    ),
    Metric(
        name="false_abstention_rate",
        heading="false abstentions",
        unit="fraction",
        better="lower",
        level="question",
        meaning="Abstained answers over the answers to answerable questions.",
        section="5",
    ),
    Metric(
        name="answered_unanswerable_rate",
        heading="answered unanswerable",
        unit="fraction",
        better="lower",
        level="question",
        meaning="Answers that did answer over the answers to unanswerable questions.",
        section="5",
    ),
    Metric(
        name="relevancy_rate",
        heading="relevancy",
        unit="fraction",
        better="higher",
        level="answer",
        meaning="Answers that address the question, partly counting half, over all answers.",
        section="5",
    ),
)

METRICS: Final[Mapping[str, Metric]] = MappingProxyType({metric.name: metric for metric in _ROWS})
