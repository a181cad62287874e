"""What `fourcells keypoints review` shows: a point beside the text that it was drawn from."""

from collections.abc import Sequence
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from schemas.question import Edit, KeyPoint, Question
from tasks.text.visible import one_line, visible
from tasks.workspace.review import Here, Review, told
from tasks.workspace.sources import Source, clipped

# Columns from which point and source stand side by side.
SIDE_BY_SIDE: Final = 100
# Lines of a screen that the point, the keys and the prompt take.
_TAKEN_SIDE_BY_SIDE: Final = 8
_TAKEN: Final = 18
_LEAST_LINES: Final = 6

_KEYS: Final = "a accept (A: and say why)  e edit  s split  d drop  m make it {other}"
_MOVES: Final = "u undo  n next  b back  q quit"


def show_point(
    console: Console, review: Review, here: Here, *, question: Question, sources: Sequence[Source], notice: str
) -> None:
    """Clear the screen and show one point."""
    console.clear()
    width = console.width
    wide = width >= SIDE_BY_SIDE
    left = width * 2 // 5 if wide else width
    right = width - left - 3 if wide else width
    point = _point(here, question, review.lists[here.question_id])
    n_lines = (console.height - (_TAKEN_SIDE_BY_SIDE if wide else _TAKEN)) // max(len(sources), 1)
    text = Group(*_sources(sources, n_lines=max(n_lines - 3, _LEAST_LINES), width=right))
    counts = f"point {here.number} of {here.n_points}, {review.n_open} not reviewed yet"
    console.print(Rule(Text(counts), align="left", style="dim"))
    if wide:
        grid = Table.grid(padding=(0, 3, 0, 0))
        grid.add_column(width=left)
        grid.add_column(width=right)
        grid.add_row(point, text)
        console.print(grid)
    else:
        console.print(point)
        console.print(Rule(style="dim"))
        console.print(text)
    other = "okay" if here.point.weight == "vital" else "vital"
    _foot(console, notice, [_KEYS.format(other=other), _MOVES])


def show_end(console: Console, review: Review, *, notice: str) -> None:
    """Clear the screen and say that the last point is behind."""
    console.clear()
    console.print(Rule(style="dim"))
    left = f"{review.n_open} points are not reviewed yet" if review.n_open else "every point is reviewed"
    console.print(Text(f"That was the last one; {left}."))
    _foot(console, notice, ["u undo  b back  q quit"])


def _foot(console: Console, notice: str, keys: Sequence[str]) -> None:
    console.print(Rule(style="dim"))
    if notice:
        console.print(Text(visible(notice), style="bold green"))
    for line in keys:
        console.print(Text(line, style="dim"))


def _point(here: Here, question: Question, points: Sequence[KeyPoint]) -> RenderableType:
    point = here.point
    others = [other for other in points if other.id != point.id and other.status != "dropped"]
    parts: list[RenderableType] = [
        Text(one_line(question.id), style="cyan"),
        Text(visible(question.text), style="bold"),
        Text(),
        Text.assemble(
            (point.weight, "bold magenta"), "  ", (point.status, _style(point)), "  ", (one_line(point.id), "dim")
        ),
        Text(visible(point.text)),
        *(_edit(edit) for edit in point.edits),
    ]
    if others:
        parts += [Text(), Text("The other points of this question:", style="dim")]
        parts += [Text(f"- {one_line(other.text)} ({other.weight}, {other.status})", style="dim") for other in others]
    return Group(*parts)


def _style(point: KeyPoint) -> str:
    return {"reviewed": "green", "dropped": "red"}.get(point.status, "yellow")


def _edit(edit: Edit) -> Text:
    what = f"{told(edit)} by {edit.who}, {edit.when[:10]}"
    before = f", was {edit.before!r}" if edit.of == "text" else ""
    why = f": {edit.why}" if edit.why else ""
    return Text(one_line(f"  {what}{why}{before}"), style="dim italic")


def _sources(sources: Sequence[Source], *, n_lines: int, width: int) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for source in sources:
        parts += [Text()] if parts else []
        parts.append(Text(one_line(source.document or "no document"), style="cyan"))
        if source.headings:
            parts.append(Text(one_line(" > ".join(name.lstrip("# ") for name in source.headings)), style="dim"))
        if source.note:
            parts.append(Text(f"({one_line(source.note)})", style="yellow"))
        near = clipped(source, n_lines=n_lines, width=width)
        quote = (visible(near.quote), "reverse")  # seen without colours too
        parts.append(Text.assemble(visible(near.before), quote, visible(near.after)))
    return parts or [Text("(neither the point nor its question names a document)", style="yellow")]
