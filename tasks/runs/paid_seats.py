"""What has to be known of Claude seats before anything is paid for: prompts, prices, keys, and who judges whom."""

from collections.abc import Sequence
from pathlib import Path

from schemas.claude import ClaudeJudgeSettings, ClaudeReaderSettings, ClaudeSettings, ClaudeWriterSettings
from schemas.setup import Judge, Setup
from tasks.workspace.prompts import read_prompt


def is_paid(setup: Setup) -> bool:
    """Whether answers of a setup cost money."""
    return isinstance(setup.writer, ClaudeSettings)


def prompts_of(workspace: Path, setups: Sequence[Setup], judge: Judge) -> dict[str, str]:
    """Texts of all prompts that these seats read, by name.

    Raises:
        InputError: When one is missing.
    """
    names = [setup.writer.prompt for setup in setups if isinstance(setup.writer, ClaudeWriterSettings)]
    if isinstance(judge.reader, ClaudeReaderSettings):
        names.append(judge.reader.prompt)
    if isinstance(judge.judge, ClaudeJudgeSettings):
        names += [judge.judge.grounding_prompt, judge.judge.points_prompt]
    return {name: read_prompt(workspace, name) for name in dict.fromkeys(names)}


def check_seats(workspace: Path, setups: Sequence[Setup], judge: Judge, *, batch: bool, asks: bool) -> None:
    """Whether every Claude seat has a price, and when it will be asked a key and a way; the API is not called.

    Raises:
        InputError: Naming the file and what is missing.
    """
    places = _places(workspace, setups, judge)
    if not places:
        return
    # Imported here: offline runs need no price list.
    from tasks.models.claude.batches import check_batches  # noqa: PLC0415
    from tasks.models.claude.connection import check_credentials  # noqa: PLC0415

    for where, settings in places:
        check_price(settings, where=where)
        if batch:
            check_batches(settings, where=where)
        if asks:
            check_credentials(settings, where=where)


def check_price(settings: ClaudeSettings, *, where: str) -> None:
    """Whether the model's price is known.

    Raises:
        InputError: When it is not: a model without a price would count as free.
    """
    from tasks.models.claude.prices import rates_of  # noqa: PLC0415

    rates_of(settings, where=where)


def notes_on(setups: Sequence[Setup], judge: Judge) -> list[str]:
    """What a reader of the numbers has to know: a judge that grades its own model's answers."""
    if not isinstance(judge.judge, ClaudeSettings):
        return []
    same = [
        setup.name
        for setup in setups
        if isinstance(setup.writer, ClaudeSettings) and setup.writer.model == judge.judge.model
    ]
    if not same:
        return []
    note = (
        f"judge {judge.name} is the same model as the writer of {', '.join(same)} ({judge.judge.model}): a model may "
        "be mild with its own answers; another judge model would say more"
    )
    return [note]


def _places(workspace: Path, setups: Sequence[Setup], judge: Judge) -> list[tuple[str, ClaudeSettings]]:
    found: list[tuple[str, ClaudeSettings]] = [
        (str(workspace / "setups" / f"{setup.name}.toml"), setup.writer)
        for setup in setups
        if isinstance(setup.writer, ClaudeSettings)
    ]
    where = str(workspace / "judges" / f"{judge.name}.toml")
    return found + [(where, seat) for seat in (judge.reader, judge.judge) if isinstance(seat, ClaudeSettings)]
