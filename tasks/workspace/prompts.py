"""Prompts of a workspace: Markdown with HTML comments that say why each sentence stands there."""

import difflib
import re
from pathlib import Path
from typing import Final

from schemas.errors import InputError
from tasks.workspace.settings import read_text

_COMMENT: Final = r"<!--(?:(?!-->).)*-->"
# A line that holds comments only goes with its end: adding one must leave no trace.
_OWN_LINES: Final = re.compile(rf"^[ \t]*(?:{_COMMENT}[ \t]*)+(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_LEADING: Final = re.compile(rf"^(?:{_COMMENT}[ \t]*)+", re.DOTALL | re.MULTILINE)
_INLINE: Final = re.compile(rf"[ \t]*{_COMMENT}", re.DOTALL)
_SPACE_AT_END: Final = re.compile(r"[ \t]+$", re.MULTILINE)


def read_prompt(workspace: Path, name: str) -> str:
    """Read `prompts/NAME.md` as a model gets it: without comments, so that editing one changes no key.

    Raises:
        InputError: No such prompt; not UTF-8; a comment that never ends; nothing left to say.
    """
    folder = workspace / "prompts"
    known = prompt_names(workspace)
    # Compared with the names there are, never turned into a path: a name may hold anything.
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        hint = f"Did you mean {near[0]}?" if near else f"Name one of these, or add a file to {folder}."
        raise InputError(f"unknown prompt {name!r}", allowed=", ".join(known) or "none yet", remedy=hint)
    path = folder / f"{name}.md"
    return without_comments(read_text(path), where=str(path))


def prompt_names(workspace: Path) -> list[str]:
    """Names of a workspace's prompts."""
    return sorted(path.stem for path in (workspace / "prompts").glob("*.md"))


def without_comments(markdown: str, *, where: str) -> str:
    r"""Take the comments out of a prompt, and the space at the end of its lines.

    Raises:
        InputError: A comment never ends, or nothing is left.

    >>> without_comments("Be brief. <!-- why: it costs. -->\n<!-- Two\nlines. -->\nBe exact.\n", where="")
    'Be brief.\nBe exact.'
    """
    text = markdown.replace("\r\n", "\n")
    for pattern in (_OWN_LINES, _LEADING, _INLINE):
        text = pattern.sub("", text)
    if "<!--" in text:
        raise InputError(
            f"the comment that begins in line {_unclosed(markdown)} never ends", where=where, remedy="Add -->."
        )
    text = _SPACE_AT_END.sub("", text).strip()
    if not text:
        raise InputError("the prompt is empty", where=where, remedy="Write what the model is to do.")
    return text


def _unclosed(markdown: str) -> int:
    """The line, from 1, of the comment that never ends. The others are blanked: their ends are not its."""
    others = re.sub(_COMMENT, lambda match: "\n" * match.group().count("\n"), markdown, flags=re.DOTALL)
    return others.count("\n", 0, others.index("<!--")) + 1
