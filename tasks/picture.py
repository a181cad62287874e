"""A picture of the cells by setup: one bar each, as SVG text."""

from collections.abc import Mapping
from html import escape
from typing import Final

from schemas.cell import Label

_COLOURS: Final[Mapping[Label, str]] = {
    Label.CORRECT: "#2e7d32",
    Label.FAITHFUL_BUT_WRONG: "#f9a825",
    Label.IGNORED_EVIDENCE: "#ef6c00",
    Label.FAITHFUL_TO_WRONG_PASSAGE: "#1565c0",
    Label.IMPROVISED: "#6a1b9a",
    Label.ABSTAINED_WITH_EVIDENCE: "#d4a373",
    Label.ABSTAINED_WITHOUT_EVIDENCE: "#90a4ae",
    Label.ANSWERED_UNANSWERABLE: "#c62828",
    Label.NO_ANSWER: "#795548",
    Label.UNATTRIBUTED: "#bdbdbd",
    Label.UNDETERMINED: "#e0e0e0",
}
_NAME_WIDTH: Final = 140
_BAR_WIDTH: Final = 640
_ROW: Final = 34
_LEGEND_ROW: Final = 20


def draw_cells(cells: Mapping[str, Mapping[str, int]]) -> str:
    """Draw one bar per setup, as long as the largest, cut by label in a fixed order.

    Args:
        cells: For each setup the number of questions with each label.

    >>> draw_cells({"v1": {"correct": 3}}).startswith("<svg")
    True
    """
    present = [label for label in _COLOURS if any(counts.get(label) for counts in cells.values())]
    most = max((sum(counts.values()) for counts in cells.values()), default=0) or 1
    height = _ROW * len(cells) + _LEGEND_ROW * len(present) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_NAME_WIDTH + _BAR_WIDTH + 20}" height="{height}">',
        "<style>text { font: 13px sans-serif }</style>",
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for row, (setup, counts) in enumerate(cells.items()):
        parts.extend(_bar(setup, counts, top=10 + row * _ROW, scale=_BAR_WIDTH / most))
    for line, label in enumerate(present):
        top = 20 + _ROW * len(cells) + line * _LEGEND_ROW
        parts.append(f'<rect x="{_NAME_WIDTH}" y="{top}" width="12" height="12" fill="{_COLOURS[label]}"/>')
        parts.append(f'<text x="{_NAME_WIDTH + 20}" y="{top + 11}">{label}</text>')
    return "".join([*parts, "</svg>"])


def _bar(setup: str, counts: Mapping[str, int], *, top: int, scale: float) -> list[str]:
    name = setup if len(setup) <= 18 else setup[:17] + "…"
    parts = [f'<text x="{_NAME_WIDTH - 10}" y="{top + 17}" text-anchor="end">{escape(name)}</text>']
    left = float(_NAME_WIDTH)
    for label, colour in _COLOURS.items():
        if n := counts.get(label, 0):
            width = n * scale
            parts.append(
                f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="24" fill="{colour}">'
                f"<title>{label}: {n}</title></rect>"
            )
            if width > 9 * len(str(n)):
                parts.append(
                    f'<text x="{left + width / 2:.1f}" y="{top + 17}" text-anchor="middle" fill="white">{n}</text>'
                )
            left += width
    return parts
