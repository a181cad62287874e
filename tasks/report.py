"""The report: the numbers of a comparison as tables a person reads."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from schemas.cell import Label
from tasks.compare import Comparison
from tasks.costs import cost_table
from tasks.metrics import parse_metric
from tasks.run import open_run
from tasks.store.runs import RunRecord
from tasks.summary import summarize
from tasks.tables import Column, Table
from tasks.text.visible import one_line

# Columns of the main table with their importance: 0 is never left out, the highest goes first.
_MAIN: Final = (
    ("correct_rate", 0),
    ("supported_rate", 0),
    ("recall@{t}t", 0),
    ("covered_rate", 1),
    ("abstained_rate", 2),
    ("answers_with_unsupported", 3),
    ("context_recall", 4),
    ("missing_rate", 5),
    ("contradicted_rate", 6),
    ("recall@{k}", 7),
    ("relevancy_rate", 8),
    ("answer_words", 9),
    ("claims", 10),
    ("partly_rate", 11),
)
_STAGES: Final = (
    "ranking",
    "context",
    "gold in context",
    "answer",
    "reading",
    "grounding",
    "correctness",
    "cell",
)
_MOST_SHOWN: Final = 10
# The cut that the main table shows, or the nearest below it that grading.toml asks for.
_MAIN_K: Final = 5
# Above this share of unverified claims it is the judge that needs a look (METRICS.md §3).
_UNVERIFIED: Final = 0.05


def report_tables(comparison: Comparison, *, title: str = "Setups compared") -> list[Table]:
    """The whole report as tables, in reading order."""
    summary = summarize(comparison)
    tables = [_main_table(comparison, summary, title), _count_table(comparison, summary)]
    if any(setup["cells"] for setup in summary["setups"].values()):
        tables += [_cell_table(comparison), _threshold_table(comparison)]
    if any(setup["took"] for setup in summary["setups"].values()):
        tables.append(cost_table(summary))
    tables.append(_ledger_table(summary))
    comparison.database.run("claims")
    unsupported = comparison.database.run("unsupported")
    if unsupported:
        more = len(unsupported) - _MOST_SHOWN
        below = (f"{more} more: fourcells unsupported",) if more > 0 else ()
        tables.append(unsupported_table(_spread(unsupported), below=below))
    verdicts = comparison.database.run("verdicts_to_read")
    if verdicts:
        tables.append(_verdict_table(verdicts))
    return tables


def _spread(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The first rows of every setup in turn, so that none fills the list alone."""
    turns: Counter[str] = Counter()
    turned = []
    for row in rows:
        turned.append((turns[row["setup"]], row))
        turns[row["setup"]] += 1
    return [row for turn, row in sorted(turned, key=lambda pair: pair[0])][:_MOST_SHOWN]


def _main_table(comparison: Comparison, summary: Mapping[str, Any], title: str) -> Table:
    budget = comparison.plan.grading.budget_tokens
    k = max((k for k in comparison.plan.grading.k if k <= _MAIN_K), default=min(comparison.plan.grading.k))
    wanted = [(name.format(t=budget, k=k), importance) for name, importance in _MAIN]
    setups = summary["setups"]
    known = [(name, importance) for name, importance in wanted if any(name in s["metrics"] for s in setups.values())]
    rows = []
    for name, setup in setups.items():
        shown = [_shown(metric, setup["metrics"].get(metric, {}).get("value")) for metric, _ in known]
        rows.append((name, *shown))
    columns = [Column("setup", right=False)]
    columns += [Column(parse_metric(name).heading, importance) for name, importance in known]
    return Table(title, tuple(columns), tuple(rows), _under_main(comparison, summary))


def _under_main(comparison: Comparison, summary: Mapping[str, Any]) -> tuple[str, ...]:
    lines = []
    if _text_differs(comparison):
        lines.append(
            f"recall@k: same k, different amount of text; recall @{comparison.plan.grading.budget_tokens} tokens "
            "compares these setups"
        )
    if summary["offline_judge"]:
        lines.append("offline judge: for wiring, demos and a first look, not a verdict")
    lines.extend(f"note: {note}" for note in comparison.notes)
    return tuple(lines)


def _count_table(comparison: Comparison, summary: Mapping[str, Any]) -> Table:
    """What each kind of number counts: beside every mean stands its count."""
    budget = f"recall@{comparison.plan.grading.budget_tokens}t"
    counted = (
        ("questions with gold and ranking", budget),
        ("answerable and judged", "correct_rate"),
        ("claims", "supported_rate"),
        ("points", "covered_rate"),
        ("answers", "answer_words"),
    )
    rows = tuple(
        (
            name,
            *(str(setup["metrics"].get(metric, {}).get("n", 0)) for _, metric in counted),
            _shown("context_tokens", setup["metrics"].get("context_tokens", {}).get("value")),
        )
        for name, setup in summary["setups"].items()
    )
    golds = tuple(
        f"gold: {row['n_questions']} questions, rule {row['gold_rule']!r}, {row['mean_gold']:.1f} entries on average"
        for row in comparison.database.run("gold")
    )
    points = comparison.database.run("reviewed")
    unreviewed = tuple(
        f"key points: {row['n']} of {sum(one['n'] for one in points)} are {row['status']}"
        for row in points
        if row["status"] != "reviewed"
    )
    columns = (
        Column("setup", right=False),
        *(Column(heading) for heading, _ in counted),
        Column("tokens in a context", 1),
    )
    return Table("Counts behind these numbers", columns, rows, (*golds, *unreviewed))


def _text_differs(comparison: Comparison) -> bool:
    """Whether k passages are different amounts of text in the setups compared."""
    shapes = set()
    for pick in comparison.picks:
        setup = open_run(str(comparison.workspace), pick.run_id).setup(pick.setup).setup
        imported = setup.answers or ""
        shapes.add((imported, setup.splitting.model_dump_json(), setup.context.k, setup.context.neighbours))
    return len(shapes) > 1


def _shown(metric: str, value: float | None) -> str | None:
    if value is None:
        return None
    unit = parse_metric(metric).metric.unit
    return f"{100 * value:.1f}%" if unit == "fraction" else f"{value:.0f}"


def _cell_table(comparison: Comparison) -> Table:
    rows = comparison.database.run("cells")
    names = [pick.setup for pick in comparison.picks]
    counts: Counter[tuple[str, str, str, int]] = Counter()
    for row in rows:
        counts[row["label"], row["owner"], row["reason"], row["place"]] += row["n"]
    order = list(Label)
    lines = sorted({entry[:3] for entry in counts}, key=lambda line: (order.index(Label(line[0])), line[1:]))
    body = tuple(
        (
            f"{label}: {reason}" if reason else label,
            owner,
            *(str(counts[label, owner, reason, place] or "") for place in range(len(names))),
        )
        for label, owner, reason in lines
    )
    asked = [sum(n for entry, n in counts.items() if entry[3] == place) for place in range(len(names))]
    return Table(
        "Cells: every question in one, with its owner",
        (
            Column("cell", right=False),
            Column("owner", right=False),
            *(Column(name) for name in names),
        ),
        (*body, ("asked", None, *(str(n) for n in asked))),
        (
            *_page_level(rows),
            *(_advice(name, [row for row in rows if row["place"] == place]) for place, name in enumerate(names)),
        ),
    )


def _page_level(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    n = sum(row["n"] for row in rows if row["page_level"])
    return (
        [f"page-level: {n} of these rest on gold that names a page, which shows only that the page arrived"]
        if n
        else []
    )


def _advice(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    owners: Counter[str] = Counter()
    for row in rows:
        if row["owner"] != "nobody":
            owners[row["owner"].split(",")[0]] += row["n"]
    if not owners:
        return f"{name}: no question failed that has an owner"
    owner, n = min(owners.items(), key=lambda entry: (-entry[1], entry[0]))
    return f"{name}: start with: {owner} ({n} of {owners.total()} failing questions)"


def _threshold_table(comparison: Comparison) -> Table:
    grading = comparison.plan.grading
    rows = tuple(
        (
            row["setup"],
            str(row["n_in_cells"]),
            str(row["change_at_08"]),
            str(row["change_at_10"]),
            _shown("correct_rate", row["correct_rate_at_05"]),
            _shown("correct_rate", row["correct_rate_at_10"]),
        )
        for row in comparison.database.run("thresholds")
    )
    return Table(
        f"Thresholds: grounded at {grading.grounded_at}, correct at {grading.correct_at}; what others would say",
        (
            Column("setup", right=False),
            Column("in the four cells"),
            Column("change column at 0.8"),
            Column("change column at 1.0"),
            Column("correct at 0.5"),
            Column("correct at 1.0"),
        ),
        rows,
    )


def _ledger_table(summary: Mapping[str, Any]) -> Table:
    rows = []
    plain = []
    for name, setup in summary["setups"].items():
        whole = []
        for stage in _STAGES:
            states = setup["states"].get(stage, {})
            scored, asked = states.get("scored", 0), sum(states.values())
            if scored == asked:
                whole.append(stage)
                continue
            apart = {state.partition(":")[2]: n for state, n in states.items() if state.startswith("not_applicable")}
            failed = {
                state: n for state, n in states.items() if state != "scored" and not state.startswith("not_applicable")
            }
            rows.append((name, stage, str(asked), str(scored), _listed(apart), _listed(failed)))
        asked = sum(setup["states"].get("context", {}).values())
        plain.append(f"{name}: {asked} asked; all of them scored: {', '.join(whole) or 'nowhere'}")
        plain.extend(_unverified(name, setup["metrics"].get("unverified_rate")))
    return Table(
        "Ledger: what became of every question at every stage",
        (
            Column("setup", right=False),
            Column("stage", right=False),
            Column("asked"),
            Column("scored"),
            Column("not applicable", right=False),
            Column("failed", right=False),
        ),
        tuple(rows),
        tuple(plain),
    )


def _unverified(name: str, rate: Mapping[str, Any] | None) -> list[str]:
    """What the quote check took back of the judge's words."""
    if not rate or not rate["value"]:
        return []
    look = "; above 5% it is the judge that needs a look" if rate["value"] > _UNVERIFIED else ""
    return [f"{name}: {100 * rate['value']:.1f}% of {rate['n']} claims unverified: their evidence was not found{look}"]


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {name}" for name, n in counts.items())


def unsupported_table(rows: Sequence[Mapping[str, Any]], *, below: tuple[str, ...] = ()) -> Table:
    """Claims without support in their context."""
    return Table(
        "Claims that their context does not support",
        (
            Column("setup", right=False),
            Column("question", right=False),
            Column("verdict", right=False),
            Column("claim", right=False),
        ),
        tuple((row["setup"], row["question_id"], row["verdict"], one_line(row["claim"], most=300)) for row in rows),
        below,
        n_labels=3,
    )


def _verdict_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    return Table(
        "Verdicts to read: a judge's word is data to inspect",
        (
            Column("setup", right=False),
            Column("question", right=False),
            Column("verdict", right=False),
            Column("claim", right=False),
            Column("evidence", right=False),
        ),
        tuple(
            (
                row["setup"],
                row["question_id"],
                row["verdict"],
                one_line(row["claim"], most=300),
                one_line(row["quote"] or "", most=300),
            )
            for row in rows
        ),
        n_labels=3,
    )


def runs_table(records: Sequence[RunRecord]) -> Table:
    """The runs of a store."""
    return Table(
        "Runs",
        (
            Column("run", right=False),
            Column("state", right=False),
            Column("until", right=False, importance=3),
            Column("judge", right=False),
            Column("setups", right=False),
            Column("questions", importance=4),
            Column("failed"),
            Column("started", right=False, importance=1),
            Column("same inputs", right=False, importance=2),
        ),
        tuple(
            (
                record.run_id,
                record.state,
                record.until,
                record.judge,
                ", ".join(record.setups),
                str(record.n_questions),
                str(record.n_failed),
                record.started_at,
                record.inputs_id[:8],
            )
            for record in records
        ),
    )
