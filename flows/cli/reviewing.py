"""The dialogue of `fourcells keypoints review`: one key, one action, saved at once."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from prompt_toolkit import PromptSession
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from flows.cli.review_screen import show_end, show_point
from flows.cli.terminal import console
from schemas.errors import InputError
from tasks.text.visible import visible
from tasks.workspace.point_lists import replace_list

if TYPE_CHECKING:
    from schemas.question import Question
    from tasks.workspace.review import Action, Review
    from tasks.workspace.sources import SourceFinder

_LEFT: Final = "left as it was"
_AT_THE_END: Final = "ubq"
_ESC_S: Final = 0.1


def review_points(review: "Review", workspace: Path, known: Mapping[str, "Question"], finder: "SourceFinder") -> None:
    """Walk a person through the points until they quit.

    Raises:
        InputError: When the file was changed by somebody else meanwhile; what was done before is saved.
    """
    screen = console()
    notice = ""
    while True:
        here = review.here
        if here is None:
            show_end(screen, review, notice=notice)
        else:
            question = known[here.question_id]
            sources = finder.sources(question, here.point)
            show_point(screen, review, here, question=question, sources=sources, notice=notice)
        key = _read_key("aAesdmunbq" if here is not None else _AT_THE_END)
        if key == "q":
            return
        before = dict(review.lists)
        action, notice = _act(review, key)
        if action is not None:
            name = action.question_id
            replace_list(workspace, known, name, before=before[name], after=review.lists[name])


def _act(review: "Review", key: str) -> "tuple[Action | None, str]":
    """Do what a key stands for; returns the change that has to be saved, and what to tell."""
    if key == "n":
        review.next()
    elif key == "b":
        review.back()
    elif key == "u":
        return _undo(review)
    else:
        action = _CHANGES[key](review)
        here = review.here
        open_still = action is not None and here is not None and here.point.id == action.point_id
        hint = "; a accepts it" if open_still and here is not None and here.point.status != "reviewed" else ""
        return action, f"{action.told()} {action.point_id}{hint}" if action is not None else _LEFT
    return None, ""


def _accept(review: "Review") -> "Action | None":
    return review.accept()


def _accept_saying_why(review: "Review") -> "Action | None":
    why = _ask("why: ")
    return review.accept(why) if why is not None else None


def _drop(review: "Review") -> "Action | None":
    why = _ask_why()
    return review.drop(why) if why is not None else None


def _mark(review: "Review") -> "Action | None":
    why = _ask_why()
    return review.mark(why) if why is not None else None


def _edit(review: "Review") -> "Action | None":
    old = _text(review)
    text = _ask("text: ", default=old)
    if not text or text == old:
        return None
    why = _ask_why()
    return review.edit(text, why) if why is not None else None


def _split(review: "Review") -> "Action | None":
    left = _text(review)
    texts: list[str] = []
    while True:
        label = f"part {len(texts) + 1}{' (Enter alone ends)' if len(texts) > 1 else ''}: "
        text = _ask(label, default=left)
        if text is None or (not text and len(texts) < 2):
            return None
        if not text:
            break
        texts.append(text)
        # What is cut off the end of a part is offered as the next.
        left = left[len(text) :].lstrip(" ,;.") if left.startswith(text) else ""
    why = _ask_why()
    return review.split(texts, why) if why is not None else None


_CHANGES: Final[Mapping[str, "Callable[[Review], Action | None]"]] = {
    "a": _accept,
    "A": _accept_saying_why,
    "d": _drop,
    "m": _mark,
    "e": _edit,
    "s": _split,
}


def _undo(review: "Review") -> "tuple[Action | None, str]":
    last = review.last()
    if last is None:
        return None, "there is nothing to undo"
    if not last.this_sitting:
        when = last.edit.when[:16].replace("T", " ")
        question = f"{last.point_id} was {last.told()} by {last.edit.who} on {when} UTC; undo that? (y, n)"
        sys.stdout.write(f"{visible(question)}\n")
        if _read_key("yn") != "y":
            return None, _LEFT
    try:
        action = review.undo()
    except InputError as error:
        return None, str(error)
    return action, f"no longer {last.told()}: {last.point_id}"


def _text(review: "Review") -> str:
    return review.here.point.text if review.here is not None else ""


def _ask_why() -> str | None:
    """Ask until there is a reason; None when the person goes back."""
    why: str | None = ""
    while why == "":
        why = _ask("why (needed; Esc goes back): ")
    return why


def _ask(label: str, *, default: str = "") -> str | None:
    """A line, ready to be changed; None when the person goes back with Esc or Ctrl-C."""
    bindings = KeyBindings()

    @bindings.add("escape")
    @bindings.add("c-c")
    @bindings.add("c-d")
    def leave(event: KeyPressEvent) -> None:
        event.app.exit(result=None)

    session: PromptSession[str | None] = PromptSession(key_bindings=bindings)
    # Esc begins the codes of other keys too: how long to wait for the rest of one, in seconds.
    session.app.ttimeoutlen = session.app.timeoutlen = _ESC_S
    line = session.prompt(label, default=default)
    return " ".join(line.split()) if line is not None else None


def _read_key(keys: str) -> str:
    """One of these keys, as soon as it is pressed; Ctrl-D is q.

    Raises:
        KeyboardInterrupt: At Ctrl-C.
    """
    bindings = KeyBindings()

    @bindings.add(Keys.Any)
    @bindings.add("enter")
    def ignore(event: KeyPressEvent) -> None:
        """Another key: nothing happens."""

    def take(event: KeyPressEvent) -> None:
        event.app.exit(result=event.data)

    for key in keys:
        bindings.add(key)(take)

    @bindings.add("c-d")
    def leave(event: KeyPressEvent) -> None:
        event.app.exit(result="q")

    session: PromptSession[str] = PromptSession(key_bindings=bindings)
    return session.prompt("> ")
