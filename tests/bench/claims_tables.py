"""The comparison and cell tables over a million claims: a small finished run, copied under new keys."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from schemas.setup import Grading
from tasks.compare import compare
from tasks.store.database import Database, Pick
from tasks.store.runs import RunFolder
from tasks.store.store import Store
from tests.bench.figure import Figure, timed
from tests.bench.synthetic import write_workspace
from tests.small_workspace import walk_all

_N_CLAIMS: Final = 1_000_000
_N_QUESTIONS: Final = 1_000
_RECORDS: Final = ("answer", "reading", "grounding", "correctness", "cell")
_PREFIX: Final = 8
# Generated answers make one claim or two; long answers make this many.
_CLAIMS_EACH: Final = 10


def measure_tables(folder: Path) -> Iterator[Figure]:
    """Open the database over the store's parts and run the scripts that make both tables."""
    workspace = write_workspace(folder / "claims", n_documents=100, n_sections=10, n_questions=_N_QUESTIONS)
    run_id = walk_all(workspace)
    store = Store(workspace / "store")
    setup = "plain"
    one = RunFolder(store.runs_folder, run_id).manifest()
    judged = int(pc.sum(pc.greater(one.column("n_claims"), 0)).as_py())
    copies = -(-_N_CLAIMS // (judged * _CLAIMS_EACH))
    retrieval = compare(workspace, run_id=run_id).database.tables["retrieval_scores"]
    grown = _grow(store, RunFolder(store.runs_folder, run_id), folder / "grown", copies)
    scores = _copied(retrieval, copies, ids=("question_id",))

    def make() -> None:
        database = Database(grown, [Pick(run_id, setup)])
        database.add("retrieval_scores", scores)
        database.grade_by(Grading())
        database.run("answers")
        rows = database.run("comparison")
        database.run("cells")
        assert next(row["n"] for row in rows if row["metric"] == "supported_rate") >= _N_CLAIMS

    spread = timed(make, n=5)
    work = (
        f"comparison and cell tables over 1,000,000 claims ({copies * _N_QUESTIONS:,} questions, 1,000 computed ones "
        f"copied under new keys, verdicts repeated to {_CLAIMS_EACH} an answer): opening the database over the store, answer scores, both tables; its {scores.num_rows:,} retrieval scores are given"
    )
    yield Figure(work, "≤ 1.0 s", spread.shown(), spread.median <= 1.0)


def _grow(store: Store, run: RunFolder, root: Path, copies: int) -> Store:
    grown = Store(root)
    for record in _RECORDS:
        rows = store.rows(record)
        table = pa.concat_tables([rows.parts.read(part) for part in rows.parts.live()])
        for name in {"reading": ("claims",), "grounding": ("verdicts",)}.get(record, ()):
            longer = [(values * _CLAIMS_EACH)[:_CLAIMS_EACH] for values in table.column(name).to_pylist()]
            place = table.schema.get_field_index(name)
            table = table.set_column(place, table.schema.field(name), pa.array(longer, table.schema.field(name).type))
        own = grown.rows(record)
        with own.parts.locked():
            for start in range(0, copies, 50):
                own.parts.add(_copied(table, min(50, copies - start), keys=("key",), first=start))
        own.compact()
    folder = RunFolder(grown.runs_folder, run.folder.name)
    keys = tuple(f"{record}_key" for record in _RECORDS)
    manifest = _copied(run.manifest(), copies, keys=keys, ids=("question_id",))
    questions = run.asked()
    plan = run.plan()
    asked = [
        question.model_copy(update={"question_id": f"{question.question_id}.{copy}"})
        for copy in range(copies)
        for question in questions
    ]
    folder.create(plan.model_copy(update={"n_questions": len(asked)}), run.record(), asked)
    pq.write_table(manifest, folder.folder / "manifest.parquet")
    return grown


def _copied(
    table: pa.Table, copies: int, *, keys: tuple[str, ...] = (), ids: tuple[str, ...] = (), first: int = 0
) -> pa.Table:
    """A table so many times, with other keys and ids each time."""
    made = []
    for copy in range(first, first + copies):
        one = table
        for name in keys:
            column = pc.utf8_replace_slice(one.column(name), 0, _PREFIX, f"{copy:0{_PREFIX}x}")
            one = one.set_column(one.schema.get_field_index(name), table.schema.field(name), column)
        for name in ids:
            column = pc.binary_join_element_wise(one.column(name), pa.scalar(str(copy)), ".")
            one = one.set_column(one.schema.get_field_index(name), table.schema.field(name), column)
        made.append(one)
    return pa.concat_tables(made).combine_chunks()
