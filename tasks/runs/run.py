"""A run as its stages see it: plan, questions, store and texts, opened once per process."""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from schemas.plan import Plan, PlannedDocument, PlannedSetup, Shard
from schemas.question import AskedQuestion
from schemas.saved import SavedAnswer
from schemas.trail import Trail
from tasks.models.seating import Seating
from tasks.runs.under_way import UnderWay
from tasks.store.runs import Attempts, RunFolder, Stamp, failed_attempts, load_asked, load_plan
from tasks.store.store import Store
from tasks.store.texts import Texts
from tasks.workspace.questions import read_saved_answers

if TYPE_CHECKING:
    from tasks.models.claude.desk import Desk

# A flow stays under a few hundred task runs (DESIGN.md), and a shard is worth its start.
_SHARDS_PER_STAGE: Final = 40
_LEAST_ROWS: Final = 50
_BATCH_ROWS: Final = 10_000
# About two kilobytes each; what goes beyond is read from its file.
_TRAILS_HELD: Final = 50_000


class Run:
    """One run.

    Args:
        workspace: Its folder.
        run_id: Of a plan that `prepare` wrote.
        desk: Where model calls go through; None opens the run's own at the first.
    """

    def __init__(self, workspace: Path, run_id: str, *, desk: "Desk | None" = None) -> None:
        self.workspace = workspace
        self.store = Store(workspace / "store", run_id=run_id)
        self.folder = RunFolder(self.store.runs_folder, run_id)
        self.texts = Texts(self.store)
        self.under_way = UnderWay()
        self._guard = threading.Lock()
        self._attempts: dict[str, Mapping[str, Attempts]] = {}
        self.stopped = False
        self._desk = desk
        self._noted_usd = 0.0
        self._held: OrderedDict[Shard, tuple[Stamp, list[Trail]]] = OrderedDict()

    @cached_property
    def plan(self) -> Plan:
        """What was asked."""
        return load_plan(self.folder.folder)

    @cached_property
    def documents(self) -> dict[str, PlannedDocument]:
        """Documents of the corpus, by id."""
        return {document.document_id: document for document in self.plan.documents}

    def seating(self, setup: str) -> Seating:
        """What the seats of a setup need."""
        planned = self.setup(setup)
        return Seating(self.plan.prompts, self.desk, planned.reading_trial, planned.judging_trial)

    def desk(self) -> "Desk":
        """Where all model calls of this run and process go through, opened at the first."""
        # Imported here: offline runs need neither journal nor client.
        from tasks.models.claude.budget import Budget  # noqa: PLC0415
        from tasks.models.claude.desk import Desk  # noqa: PLC0415
        from tasks.store.journal import Journal  # noqa: PLC0415

        with self._guard:
            if self._desk is None:
                journal = Journal(self.store.journal_folder)
                journal.ready()
                budget = Budget(self.plan.budget_usd)
                self._desk = Desk(journal, budget=budget, batch=self.plan.batch, owner=self.plan.run_id)
            return self._desk

    @property
    def paid_usd(self) -> float:
        """What this run has paid so far, in US dollars; rows that fail in the end included."""
        return 0.0 if self._desk is None else self._desk.paid_usd

    def note_paid(self) -> None:
        """Write down what this run has paid so far, for the accounts of a run that is killed."""
        if self.paid_usd > self._noted_usd:
            self._noted_usd = self.paid_usd
            self.note()

    def note(self, **changes: object) -> None:
        """Write what is known of this run so far, from any of its threads."""
        with self._guard:
            known = {"paid_usd": self.paid_usd, **changes}
            self.folder.save(self.folder.record().model_copy(update=known))

    def setup(self, name: str) -> PlannedSetup:
        """A setup of this run."""
        return next(planned for planned in self.plan.setups if planned.setup.name == name)

    def asked(self, shard: Shard) -> Sequence[AskedQuestion]:
        """The shard's questions, in order."""
        questions = load_asked(self.folder.folder)
        positions = self.setup(shard.setup).asked
        if positions is None:
            return questions[shard.start : shard.stop]
        return [questions[position] for position in positions[shard.start : shard.stop]]

    def trails(self, shard: Shard) -> list[Trail]:
        """What has become of the shard's questions so far.

        Held from the stage before, unless another process has written since.
        """
        with self._guard:
            held = self._held.pop(shard, None)
        if held is not None and held[0] == self.folder.trails_stamp(shard):
            return held[1]
        return self.folder.read_trails(shard)

    def save(self, shard: Shard, trails: list[Trail]) -> None:
        """Write down what has become of the shard's questions."""
        stamp = self.folder.write_trails(shard, trails)
        with self._guard:
            self._held[shard] = stamp, trails
            while sum(len(held) for _, held in self._held.values()) > _TRAILS_HELD:
                self._held.popitem(last=False)

    def begin(self, shard: Shard) -> list[Trail]:
        """The first rows of a shard: nothing has happened yet."""
        return [
            Trail(setup=shard.setup, question_id=question.question_id, question_key=question.question_key)
            for question in self.asked(shard)
        ]

    def stop(self) -> None:
        """Begin nothing more and ask models nothing more, until `resume`; what is in flight is kept."""
        self.stopped = True
        if self._desk is not None:
            self._desk.stop()

    def resume(self) -> None:
        """Go on."""
        self.stopped = False
        if self._desk is not None:
            self._desk.resume()

    def release(self) -> None:
        """Let go of the trails and the journal: the last stage has ended."""
        with self._guard:
            self._held.clear()
            if self._desk is not None:
                self._desk.close()

    def saved(self, setup: str) -> dict[str, SavedAnswer]:
        """The saved answers of a setup, by question id."""
        planned = self.setup(setup)
        return _saved(self.workspace / "answers" / str(planned.setup.answers), planned.answers_digest or "")

    def attempts(self, record: str) -> Mapping[str, Attempts]:
        """Rows of a record that failed in earlier runs, by key."""
        with self._guard:
            if record not in self._attempts:
                self._attempts[record] = failed_attempts(self.store.runs_folder, record, but_for=self.store.run_id)
            return self._attempts[record]

    def shards(self, setup: str) -> list[Shard]:
        """Cut a setup's questions into shards."""
        sizes = {p.setup.name: self.plan.n_questions if p.asked is None else len(p.asked) for p in self.plan.setups}
        size = max(_LEAST_ROWS, -(-sum(sizes.values()) // _SHARDS_PER_STAGE))
        if self.plan.batch:
            # What waits for a batch waits for all of it.
            size = max(size, _BATCH_ROWS)
        return [
            Shard(
                workspace=str(self.workspace),
                run_id=self.plan.run_id,
                setup=setup,
                number=number,
                start=start,
                stop=min(start + size, sizes[setup]),
            )
            for number, start in enumerate(range(0, sizes[setup], size))
        ]


@lru_cache(maxsize=16)
def open_run(workspace: str, run_id: str) -> Run:
    """Open a run; threads and stages of one process share it."""
    return Run(Path(workspace), run_id)


@lru_cache(maxsize=4)
def _saved(path: Path, digest: str) -> dict[str, SavedAnswer]:  # noqa: ARG001 - the digest makes a changed file a new one
    return read_saved_answers(path)
