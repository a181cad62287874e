"""The one table of seats: which providers can write, read and judge, and what their keys are made of.

Seats are imported when they are used: keys are made far more often, and a run that computes nothing needs none.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from schemas.claude import ClaudeSettings
from schemas.seats import Judge, Reader, Writer
from schemas.setup import Judge as JudgeSettings
from schemas.setup import WriterSettings
from tasks.models import versions
from tasks.models.seating import OFFLINE, Seating
from tasks.store.keys import Material, key

Prompts = Mapping[str, str]


def _offline_writer(settings: Any, _: Seating) -> Writer:  # noqa: ANN401 - the table's rows take what is theirs
    from tasks.models.offline_writer import OfflineWriter  # noqa: PLC0415

    return OfflineWriter(settings)


def _offline_reader(*_: object) -> Reader:
    from tasks.models.offline_reader import OfflineReader  # noqa: PLC0415

    return OfflineReader()


def _offline_judge(*_: object) -> Judge:
    from tasks.models.offline_judge import OfflineJudge  # noqa: PLC0415

    return OfflineJudge()


def _claude_writer(settings: Any, seating: Seating) -> Writer:  # noqa: ANN401
    from tasks.models.claude.writer import ClaudeWriter  # noqa: PLC0415

    return ClaudeWriter(settings, seating.prompts[settings.prompt], seating.desk())


def _claude_reader(settings: Any, seating: Seating) -> Reader:  # noqa: ANN401
    from tasks.models.claude.reader import ClaudeReader  # noqa: PLC0415

    prompt = seating.prompts[settings.prompt]
    return ClaudeReader(settings, prompt, seating.desk(), trial=seating.reading_trial)


def _claude_judge(settings: Any, seating: Seating) -> Judge:  # noqa: ANN401
    from tasks.models.claude.judge import ClaudeJudge  # noqa: PLC0415

    prompts = seating.prompts[settings.grounding_prompt], seating.prompts[settings.points_prompt]
    return ClaudeJudge(settings, *prompts, seating.desk(), trial=seating.judging_trial)


_CLAUDE: Final = ("anthropic", "bedrock", "vertex")

WRITERS: Final[Mapping[str, Callable[[Any, Seating], Writer]]] = {
    "offline": _offline_writer,
    **dict.fromkeys(_CLAUDE, _claude_writer),
}
READERS: Final[Mapping[str, Callable[[Any, Seating], Reader]]] = {
    "offline": _offline_reader,
    **dict.fromkeys(_CLAUDE, _claude_reader),
}
JUDGES: Final[Mapping[str, Callable[[Any, Seating], Judge]]] = {
    "offline": _offline_judge,
    **dict.fromkeys(_CLAUDE, _claude_judge),
}


def open_writer(settings: WriterSettings, seating: Seating = OFFLINE) -> Writer:
    """The writer of a setup."""
    return WRITERS[settings.provider](settings, seating)


def open_reader(settings: JudgeSettings, seating: Seating = OFFLINE) -> Reader:
    """The reader in front of a judge."""
    return READERS[settings.reader.provider](settings.reader, seating)


def open_judge(settings: JudgeSettings, seating: Seating = OFFLINE) -> Judge:
    """The judge itself."""
    return JUDGES[settings.judge.provider](settings.judge, seating)


def claude_settings(*seats: object) -> list[ClaudeSettings]:
    """Those of the seats' settings that name a Claude model: they need a key, and cost money."""
    return [settings for settings in seats if isinstance(settings, ClaudeSettings)]


def writer_material(settings: WriterSettings) -> Material:
    """What an answer's key says of its writer; the prompt stands beside it."""
    if isinstance(settings, ClaudeSettings):
        from tasks.models.claude.writer import VERSION  # noqa: PLC0415

        return {**_asked(settings), "version": VERSION}
    return {**settings.model_dump(mode="json"), "version": versions.OFFLINE_WRITER}


def writer_prompt(settings: WriterSettings, prompts: Prompts) -> str | None:
    """Text of the writer's prompt; the offline writer has none."""
    return prompts[settings.prompt] if isinstance(settings, ClaudeSettings) else None


def reader_key(settings: JudgeSettings, prompts: Prompts) -> str:
    """Names everything that could change a reading beside the answer (METRICS.md §7)."""
    reader = settings.reader
    if isinstance(reader, ClaudeSettings):
        from tasks.models.claude.reader import SCHEMA_DIGEST, VERSION  # noqa: PLC0415

        return _key("reader", reader, prompts[reader.prompt], SCHEMA_DIGEST, VERSION)
    return _offline_key("reader", versions.OFFLINE_READER)


def grounding_key(settings: JudgeSettings, prompts: Prompts) -> str:
    """Names everything that could change a verdict on a claim beside what is judged (METRICS.md §7)."""
    judge = settings.judge
    if isinstance(judge, ClaudeSettings):
        from tasks.models.claude.judge import GROUNDING_DIGEST, GROUNDING_VERSION  # noqa: PLC0415

        return _key("judge", judge, prompts[judge.grounding_prompt], GROUNDING_DIGEST, GROUNDING_VERSION)
    return _offline_key("judge", versions.OFFLINE_JUDGE)


def points_key(settings: JudgeSettings, prompts: Prompts) -> str:
    """The same for a verdict on a key point: another prompt and schema, so another key."""
    judge = settings.judge
    if isinstance(judge, ClaudeSettings):
        from tasks.models.claude.judge import POINTS_DIGEST, POINTS_VERSION  # noqa: PLC0415

        return _key("judge", judge, prompts[judge.points_prompt], POINTS_DIGEST, POINTS_VERSION)
    return _offline_key("judge", versions.OFFLINE_JUDGE)


def who_replied(seat_key: str, model: str | None) -> str:
    """The key with the model that replied (METRICS.md §7: judge_id); an offline seat is its own model."""
    return f"{seat_key}:{model or 'offline'}"


def models_of(judge_id: str) -> list[str]:
    """The models behind a `judge_id`; their names may hold colons, the key holds none.

    >>> models_of(who_replied("0f3a", "llama3:8b"))
    ['llama3:8b']
    """
    return judge_id.partition(":")[2].split(", ")


def labelled_offline(settings: JudgeSettings) -> bool:
    """Whether verdicts come from the built-in judge: for wiring, demos and a first look, no verdict."""
    return settings.judge.provider == "offline"


def _asked(settings: ClaudeSettings) -> dict[str, Material]:
    from tasks.models.claude.request import endpoint  # noqa: PLC0415

    # Deadlines, concurrency and prices cannot change a reply.
    return {
        "provider": settings.provider,
        "endpoint": endpoint(settings),
        "model": settings.model,
        "parameters": {"effort": settings.effort, "max_tokens": settings.max_tokens},
    }


def _key(record: str, settings: ClaudeSettings, prompt: str, schema: str, version: int) -> str:
    return key(record, **_asked(settings), prompt=prompt, schema=schema, parser=version)


def _offline_key(record: str, version: int) -> str:
    # No endpoint, model, prompt or schema; the code's version stands for all of it.
    nothing: dict[str, Material] = {"endpoint": None, "model": None, "prompt": None, "schema": None}
    return key(record, provider="offline", parameters=None, parser=version, **nothing)
