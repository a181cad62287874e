"""The order walked in this process: what ended it is what is told."""

import logging
from pathlib import Path

import pytest

from flows import here
from flows.here import run_here
from schemas.errors import StoreError
from tasks.runs.prepare import Request, prepare


@pytest.mark.parametrize("first", [StoreError("the disk is full"), KeyboardInterrupt(), RuntimeError("a bug")])
def test_an_error_of_the_closing_does_not_hide_the_one_that_ended_the_run(
    first: BaseException, workspace: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def stop(*_: object) -> None:
        raise first

    def cannot_close(*_: object, **__: object) -> None:
        raise StoreError("the record cannot be written")

    plan = prepare(Request(workspace=workspace))
    monkeypatch.setattr(here, "walk", stop)
    monkeypatch.setattr(here, "close", cannot_close)
    with caplog.at_level(logging.WARNING, "fourcells.run"), pytest.raises(type(first)) as caught:
        run_here(plan, lambda _: None)
    assert caught.value is first
    assert f"the end of run {plan.run_id} could not be written: the record cannot be written" in caplog.text


def test_a_run_that_went_well_and_cannot_be_closed_says_so(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cannot_close(*_: object, **__: object) -> None:
        raise StoreError("the record cannot be written")

    plan = prepare(Request(workspace=workspace))
    monkeypatch.setattr(here, "walk", lambda *_: None)
    monkeypatch.setattr(here, "close", cannot_close)
    with pytest.raises(StoreError, match="the record cannot be written"):
        run_here(plan, lambda _: None)
