"""The measured process: the judge's seat over generated answers, through the desk, with a journal on disk.

Runs as `python -m tests.bench.llm_client`, with `Task` as JSON on its command line, and prints `Done` as JSON.
"""

import hashlib
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Final

from schemas.claude import ClaudeJudgeSettings, Price
from schemas.record import Record
from schemas.seats import Failure, GroundRequest
from tests.bench.synthetic import Language

_PASSAGES: Final = 5
_CLAIMS: Final = 3
_PROMPTS: Final = Path(__file__).resolve().parents[2] / "data" / "prompts"


class Task(Record):
    """What to do.

    Attributes:
        folder: Of the journal.
    """

    base_url: str
    folder: str
    questions: int
    concurrency: int
    deadline_s: float = 60.0


class Done(Record):
    """What came of it.

    Attributes:
        seconds: From the first question to the last verdict; the SDK was imported before.
        cpu_s: Of this process, user and system, in that time.
        peak_bytes: Of the whole process.
        rows: Results by state; "scored" for those that have verdicts.
        verdicts: Verdicts by word.
        digest: Of all verdicts, in the order of the questions.
        calls: Replies that the rows rest on.
    """

    seconds: float
    cpu_s: float
    peak_bytes: int
    rows: dict[str, int]
    verdicts: dict[str, int]
    digest: str
    calls: int


def requests(n: int) -> Iterator[GroundRequest]:
    """Answers of three claims with five passages of about 110 words; always the same ones."""
    language = Language()
    pool = [language.section() for _ in range(max(50, n // 4))]
    random = Random(4)  # noqa: S311 - texts, not secrets
    for number in range(n):
        sections = random.sample(pool, _PASSAGES)
        claims = [random.choice(section.sentences) for section in sections[:_CLAIMS]]
        yield GroundRequest(
            question=f"What does part {number} need?",
            claims=(f"Part {number} is one of them.", *claims[1:]),
            passages=tuple(section.text for section in sections),
        )


def judge_all(task: Task, asked: Sequence[GroundRequest]) -> Done:
    """Ask for all of it and wait for all of it."""
    # The SDK, its transport and the price list: what takes a second to load is not what is measured.
    import anthropic  # noqa: F401, TID251
    import httpcore2  # noqa: F401

    from tasks.models.claude.budget import Budget
    from tasks.models.claude.desk import Desk
    from tasks.models.claude.judge import ClaudeJudge
    from tasks.models.claude.prices import known_models
    from tasks.store.journal import Journal

    known_models("anthropic")

    settings = ClaudeJudgeSettings(
        provider="anthropic",
        model="claude-sonnet-4-6",
        base_url=task.base_url,
        concurrency=task.concurrency,
        deadline_s=task.deadline_s,
        price=Price(input_usd=3, output_usd=15),
    )
    journal = Journal(Path(task.folder))
    desk = Desk(journal, budget=Budget(None), owner=f"bench-{os.getpid()}")
    prompts = [(_PROMPTS / f"{name}.md").read_text(encoding="utf-8") for name in ("grounding", "points")]
    judge = ClaudeJudge(settings, prompts[0], prompts[1], desk)
    began, began_cpu = time.perf_counter(), time.process_time()
    given = list(judge.judge_grounding(asked))
    seconds, cpu_s = time.perf_counter() - began, time.process_time() - began_cpu
    journal.close()
    rows: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    hasher = hashlib.blake2b(digest_size=8)
    for _, reply, _ in sorted(given, key=lambda one: one.position):
        rows["scored" if not isinstance(reply, Failure) else str(reply.state)] += 1
        words = [] if isinstance(reply, Failure) else [judged.verdict for judged in reply]
        verdicts.update(words)
        hasher.update(f"{words}\n".encode())
    return Done(
        seconds=seconds,
        cpu_s=cpu_s,
        peak_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        rows=rows,
        verdicts=verdicts,
        digest=hasher.hexdigest(),
        calls=sum(one.spent.n_calls for one in given),
    )


if __name__ == "__main__":
    what = Task.model_validate_json(sys.argv[1])
    sys.stdout.write(judge_all(what, list(requests(what.questions))).model_dump_json() + "\n")
