"""The one table of seats: which providers can write, read and judge, and what their keys are made of."""

from collections.abc import Callable, Mapping
from typing import Final

from schemas.seats import Judge, Reader, Writer
from schemas.setup import Judge as JudgeSettings
from schemas.setup import OfflineWriterSettings
from tasks.models import offline_judge, offline_reader, offline_writer
from tasks.store.keys import Material, key

WRITERS: Final[Mapping[str, Callable[[OfflineWriterSettings], Writer]]] = {
    "offline": offline_writer.OfflineWriter,
}
READERS: Final[Mapping[str, Callable[[], Reader]]] = {"offline": offline_reader.OfflineReader}
JUDGES: Final[Mapping[str, Callable[[], Judge]]] = {"offline": offline_judge.OfflineJudge}

# The offline seats have no endpoint, model, prompt or schema; their code's version stands for all of it.
_NOTHING: dict[str, Material] = {"endpoint": None, "model": None, "prompt": None, "schema": None}


def open_writer(settings: OfflineWriterSettings) -> Writer:
    """The writer of a setup."""
    return WRITERS[settings.provider](settings)


def open_reader(settings: JudgeSettings) -> Reader:
    """The reader in front of a judge."""
    return READERS[settings.reader.provider]()


def open_judge(settings: JudgeSettings) -> Judge:
    """The judge itself."""
    return JUDGES[settings.judge.provider]()


def writer_material(settings: OfflineWriterSettings) -> Material:
    """What an answer's key says of its writer."""
    return {**settings.model_dump(mode="json"), "version": offline_writer.VERSION}


def reader_key(settings: JudgeSettings) -> str:
    """Names everything that could change a reading beside the answer (METRICS.md §7)."""
    return key(
        "reader",
        provider=settings.reader.provider,
        parameters=None,
        parser=offline_reader.VERSION,
        **_NOTHING,
    )


def judge_key(settings: JudgeSettings) -> str:
    """Names everything that could change a verdict beside what is judged (METRICS.md §7)."""
    return key("judge", provider=settings.judge.provider, parameters=None, parser=offline_judge.VERSION, **_NOTHING)


def judge_id(settings: JudgeSettings) -> str:
    """The judge_key with the model that replied; the offline judge is its own model."""
    return f"{judge_key(settings)}:offline"


def labelled_offline(settings: JudgeSettings) -> bool:
    """Whether verdicts come from the built-in judge: for wiring, demos and a first look, no verdict."""
    return settings.judge.provider == "offline"
