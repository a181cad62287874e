"""Runs: what was asked, and the manifest with one row per (setup, question), kept up shard by shard."""

import logging
import os
import secrets
import shutil
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from datetime import UTC, datetime
from functools import lru_cache, reduce
from io import BytesIO
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import ValidationError

from schemas.errors import StoreDamagedError
from schemas.plan import Plan, Shard, StageCount
from schemas.question import AskedQuestion
from schemas.record import Record
from schemas.state import FAILED, ON_ITS_WAY, State
from schemas.trail import Step, Trail
from tasks.store.files import write_quickly, write_whole
from tasks.store.layout import TRAIL
from tasks.store.parts import PARQUET

log = logging.getLogger("fourcells.store")

STEPS: Final = ("ranking", "context", "answer", "reading", "grounding", "correctness", "cell")
_STEP_FIELDS: Final = tuple(field.name for field in fields(Step))
_PLAIN_FIELDS: Final = tuple(field.name for field in fields(Trail) if field.name not in STEPS)
_STATES: Final = {state.value: state for state in State}
_RUNS_HELD: Final = 4
Stamp = tuple[int, int, int]
_asked: "OrderedDict[Path, tuple[AskedQuestion, ...]]" = OrderedDict()
_asked_guard: Final = threading.RLock()
_ASKED: Final = pa.schema([
    ("question_id", pa.string()),
    ("question_key", pa.string()),
    ("point_keys", pa.list_(pa.string())),
    ("asked", pa.string()),
])


class RunRecord(Record):
    """`run.json`: what a run is and how it ended. `running` with no process behind it means that it was killed.

    Attributes:
        trials: By setup, which reading of the reader's and which of the judge's were taken.
        paid_usd: What this run paid, rows that failed in the end included.
    """

    run_id: str
    inputs_id: str
    state: Literal["running", "done", "failed_rows", "interrupted", "stopped"]
    started_at: str
    finished_at: str | None = None
    until: str
    setups: tuple[str, ...]
    judge: str
    reader_key: str
    judge_key: str
    points_key: str
    trials: Mapping[str, tuple[int, int]]
    n_questions: int
    n_failed: int = 0
    counts: tuple[StageCount, ...] = ()
    paid_usd: float = 0.0
    pid: int = 0

    @property
    def fate(self) -> str:
        """The state, where "running" with no process behind it is "killed"."""
        return "killed" if self.state == "running" and not self.is_alive else self.state

    @property
    def is_alive(self) -> bool:
        """Whether its process still lives, as far as this machine can say."""
        if self.state != "running":
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True  # somebody else's process
        return True


def new_run_id() -> str:
    """Sorts by time and is unique: the moment (UTC), five hex digits of its microsecond, three random ones."""
    now = datetime.now(UTC)
    return f"{now:%Y%m%d-%H%M%S}-{now.microsecond:05x}{secrets.randbelow(4096):03x}"


class RunFolder:
    """One run's files under `store/runs/`."""

    def __init__(self, runs: Path, run_id: str) -> None:
        self.folder = runs / run_id

    def create(self, plan: Plan, record: RunRecord, asked: Sequence[AskedQuestion]) -> None:
        """Write down what was asked."""
        table = pa.Table.from_pylist(
            [
                {
                    "question_id": question.question_id,
                    "question_key": question.question_key,
                    "point_keys": [point.point_key for point in question.points],
                    "asked": question.model_dump_json(),
                }
                for question in asked
            ],
            schema=_ASKED,
        )
        _write_table(self.folder / "asked.parquet", table)
        _keep_asked(self.folder, asked)
        write_whole(self.folder / "plan.json", plan.model_dump_json().encode())
        self.save(record)

    def save(self, record: RunRecord) -> None:
        """Replace `run.json`."""
        write_whole(self.folder / "run.json", record.model_dump_json(indent=1).encode())

    def record(self) -> RunRecord:
        """Read `run.json`."""
        return RunRecord.model_validate_json((self.folder / "run.json").read_bytes())

    def plan(self) -> Plan:
        """Read the plan."""
        return Plan.model_validate_json((self.folder / "plan.json").read_bytes())

    def asked(self) -> list[AskedQuestion]:
        """Read the questions as they were asked, gold resolved."""
        return [AskedQuestion.model_validate_json(row) for row in self.asked_text().to_pylist()]

    def asked_text(self) -> pa.ChunkedArray:
        """The same as JSON, a text for each question."""
        return _read_table(self.folder / "asked.parquet", ["asked"]).column("asked")

    def asked_keys(self) -> list[str]:
        """Keys of all questions and points that were asked."""
        table = _read_table(self.folder / "asked.parquet", ["question_key", "point_keys"])
        points = [key for keys in table.column("point_keys").to_pylist() for key in keys]
        return [*table.column("question_key").to_pylist(), *points]

    def write_trails(self, shard: Shard, trails: Iterable[Trail]) -> Stamp:
        """Replace a shard's part of the manifest.

        Returns:
            What `trails_stamp` says of it from now on.
        """
        table = _flat(trails)
        sink = BytesIO()
        # Arrow's own form, and not forced to the disk: it is written after every stage, and lives until the
        # run's end, when all parts become one Parquet file.
        with pa.ipc.new_file(sink, table.schema) as file:
            file.write_table(table)
        path = self._shard_path(shard)
        write_quickly(path, sink.getvalue())
        return self.trails_stamp(shard)

    def trails_stamp(self, shard: Shard) -> Stamp:
        """Changes whenever a shard's part of the manifest is written."""
        stat = self._shard_path(shard).stat()
        return stat.st_mtime_ns, stat.st_size, stat.st_ino

    def read_trails(self, shard: Shard) -> list[Trail]:
        """Read a shard's part of the manifest."""
        return _nested(_read_part(self._shard_path(shard)))

    def all_trails(self, setup: str) -> list[Trail]:
        """All rows of one setup."""
        return _nested(self.rows_of(setup))

    def steps(self, setup: str, names: Sequence[str]) -> dict[str, tuple[Step, ...]]:
        """Some steps of each row of one setup, by question id."""
        columns = ["question_id", *(f"{name}_{part}" for name in names for part in _STEP_FIELDS)]
        found = self.rows_of(setup).select(columns).to_pydict()
        return dict(zip(found["question_id"], zip(*(_steps(name, found) for name in names), strict=True), strict=True))

    def rows_of(self, setup: str) -> pa.Table:
        """The manifest's rows of one setup, not copied: they stand together, as `manifest` puts them."""
        table = self.manifest()
        setups = table.column("setup")
        first = pc.index(setups, setup).as_py()
        return table.slice(max(first, 0), pc.sum(pc.equal(setups, setup)).as_py() or 0)

    def manifest(self) -> pa.Table:
        """All rows written so far; a shard that was never reached has none yet."""
        whole = self.folder / "manifest.parquet"
        shards: list[pa.Table] = []
        with suppress(FileNotFoundError):
            if not whole.exists():
                shards = [_read_part(path) for path in sorted(self.folder.glob("trail-*.arrow"))]
        # Asked again: the run's own process may have merged its parts while they were read here.
        if whole.exists():
            return _read_table(whole)
        return pa.concat_tables(shards) if shards else TRAIL.empty_table()

    def count_failed(self) -> int:
        """Rows in which any stage failed."""
        table = self.manifest()
        failed = [
            pc.is_in(table.column(f"{name}_state"), value_set=pa.array(sorted(FAILED))).combine_chunks()
            for name in STEPS
        ]
        return int(pc.sum(reduce(pc.or_, failed)).as_py() or 0)

    def close(self, record: RunRecord) -> None:
        """Merge the shards' parts into one manifest and say how the run ended."""
        parts = sorted(self.folder.glob("trail-*.arrow"))
        _write_table(self.folder / "manifest.parquet", self.manifest())
        self.save(record)
        for path in parts:
            path.unlink()

    def remove(self) -> None:
        """Take the run out of the store; rows that it made stay."""
        # The record first: without it a folder is no run, should this be interrupted.
        (self.folder / "run.json").unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _shard_path(self, shard: Shard) -> Path:
        position = next(
            i for i, planned in enumerate(load_plan(self.folder).setups) if planned.setup.name == shard.setup
        )
        return self.folder / f"trail-{position:04d}-{shard.number:06d}.arrow"


@lru_cache(maxsize=_RUNS_HELD)
def load_plan(folder: Path) -> Plan:
    """A run's plan, read once per process: it never changes."""
    return RunFolder(folder.parent, folder.name).plan()


def load_asked(folder: Path) -> tuple[AskedQuestion, ...]:
    """A run's questions, read once per process: they never change."""
    with _asked_guard:
        if folder not in _asked:
            _keep_asked(folder, RunFolder(folder.parent, folder.name).asked())
        return _asked[folder]


def _keep_asked(folder: Path, asked: Sequence[AskedQuestion]) -> None:
    with _asked_guard:
        _asked.pop(folder, None)
        _asked[folder] = tuple(asked)
        while len(_asked) > _RUNS_HELD:
            _asked.popitem(last=False)


def list_runs(runs: Path) -> list[RunRecord]:
    """All runs of a store, oldest first.

    A folder whose `run.json` cannot be read is skipped with a warning; one without it is a run that another
    process is writing down, or was killed at.
    """
    found = []
    for folder in sorted(path for path in runs.glob("*") if path.is_dir()):
        try:
            found.append(RunFolder(runs, folder.name).record())
        except FileNotFoundError:
            continue
        except (OSError, ValidationError) as error:
            log.warning("run %s cannot be read and is skipped: %s", folder.name, str(error).splitlines()[0])
    return found


class Attempts(Record):
    """How often a row failed, over all runs, and how the last time."""

    count: int
    state: State
    reason: str
    message: str


# Rows that were never tried do not count as attempts.
_TRIED: Final = tuple(sorted(FAILED - {State.BLOCKED, State.OVER_BUDGET}))


def failed_attempts(runs: Path, record: str, *, but_for: str) -> dict[str, Attempts]:
    """Failed attempts at one record's rows, by key, over all runs of a store but one (the one under way)."""
    names = [f"{record}_{part}" for part in ("key", "state", "reason", "message", "new")]
    found: dict[str, Attempts] = {}
    for run in list_runs(runs):
        if run.run_id == but_for or (run.n_failed == 0 and run.state == "done"):
            continue
        try:
            table = RunFolder(runs, run.run_id).manifest().select(names)
        except StoreDamagedError as error:
            log.warning("failed attempts of run %s are not counted: %s", run.run_id, error)
            continue
        failed = table.filter(pc.is_in(table.column(names[1]), value_set=pa.array(_TRIED)))
        # Setups of one run may share a row: that is one attempt. What was given up without trying is none, nor is what
        # waits for a batch.
        rows = zip(*failed.to_pydict().values(), strict=True)
        tried = {key: rest for key, *rest, new in rows if new and rest[1] not in ON_ITS_WAY}
        for key, (state, reason, message) in tried.items():
            before = found[key].count if key in found else 0
            found[key] = Attempts(count=before + 1, state=state, reason=reason or "", message=message or "")
    return found


def _flat(trails: Iterable[Trail]) -> pa.Table:
    """Trails as columns, read off the objects: a manifest is written after every stage."""
    rows = list(trails)
    columns: dict[str, list[Any]] = {}
    for name in _PLAIN_FIELDS:
        columns[name] = list(map(attrgetter(name), rows))
    for name in STEPS:
        steps = list(map(attrgetter(name), rows))
        for part in _STEP_FIELDS:
            columns[f"{name}_{part}"] = list(map(attrgetter(part), steps))
    return pa.Table.from_pydict(columns, schema=TRAIL)


def _nested(table: pa.Table) -> list[Trail]:
    """The way back."""
    columns = table.to_pydict()
    steps = {name: _steps(name, columns) for name in STEPS}
    plain = [columns[name] for name in _PLAIN_FIELDS]
    return [
        Trail(**dict(zip(_PLAIN_FIELDS, row, strict=True)), **dict(zip(STEPS, own, strict=True)))
        for row, own in zip(zip(*plain, strict=True), zip(*steps.values(), strict=True), strict=True)
    ]


def _steps(name: str, columns: Mapping[str, Sequence[Any]]) -> list[Step]:
    parts = zip(*(columns[f"{name}_{part}"] for part in _STEP_FIELDS), strict=True)
    steps = [Step(**dict(zip(_STEP_FIELDS, values, strict=True))) for values in parts]
    for step in steps:
        if step.state is not None:
            step.state = _STATES[step.state]
    return steps


def _read_part(path: Path) -> pa.Table:
    try:
        with pa.ipc.open_file(pa.BufferReader(path.read_bytes())) as file:
            return file.read_all()
    except FileNotFoundError:
        raise
    except (OSError, ValueError, pa.ArrowException) as error:
        raise _damaged(path) from error


def _read_table(path: Path, columns: list[str] | None = None) -> pa.Table:
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            return file.read(columns)
    except FileNotFoundError:
        raise
    except (OSError, ValueError, pa.ArrowException) as error:
        raise _damaged(path) from error


def _damaged(path: Path) -> StoreDamagedError:
    return StoreDamagedError(
        "this file of a run cannot be read",
        where=str(path),
        remedy="Move the run's folder away; a new `fourcells run` reuses every saved row.",
    )


def _write_table(path: Path, table: pa.Table) -> None:
    sink = BytesIO()
    pq.write_table(table, sink, **PARQUET)
    write_whole(path, sink.getvalue())
