"""A question's story, printed."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tasks.text.visible import one_line, visible

# Longer passages are shown around their gold and quotes only.
_AROUND: Final = 200
_STYLES: Final = {
    "SUPPORTED": "green",
    "COVERED": "green",
    "PARTLY": "yellow",
    "NOT_SUPPORTED": "red",
    "UNVERIFIED": "yellow",
    "MISSING": "red",
    "CONTRADICTED": "bold red",
}


def print_story(console: Console, story: Mapping[str, Any]) -> None:
    """Print one story; text of documents and answers is shown as text, whatever it holds."""
    _rule(console, f"{story['question_id']}  in setup {story['setup']}")
    console.print(Text(visible(story["question"]), style="bold"))
    console.print(Text(f"answerable: {story['answerable']}; gold: {_gold(story)}"))
    _print_passages(console, story)
    _print_answer(console, story)
    _print_claims(console, story["claims"])
    _print_points(console, story["points"])
    _print_cell(console, story)
    console.print()


def _under(console: Console, text: Text, *, indent: int = 4) -> None:
    """Print text under its line; wrapped lines keep the indent."""
    console.print(Padding(text, (0, 0, 0, indent)))


def _listed(console: Console, label: str, text: Text) -> None:
    """Print a list item whose wrapped lines stand under its text."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_row(Text(label), text)
    console.print(grid)


def _rule(console: Console, title: str) -> None:
    console.print()
    console.print(Text(title, style="bold reverse"))


def _heading(console: Console, title: str) -> None:
    console.print()
    console.print(Text(title, style="bold underline"))


def _gold(story: Mapping[str, Any]) -> str:
    if not story["gold"]:
        return "none labelled"
    targets = [" or ".join(dict.fromkeys(place["target_id"] for place in places)) for places in story["gold"]]
    return f"{one_line('; '.join(targets), most=300)} (rule {story['gold_rule']!r})"


def _print_passages(console: Console, story: Mapping[str, Any]) -> None:
    passages = story["passages"]
    if passages is None:
        _heading(console, "Context: not recorded")
        return
    _heading(console, f"Context: {len(passages)} passages (gold marked «thus»)")
    for passage in passages:
        name = one_line(passage["document"] or passage["id"] or "unknown document")
        where = ", ".join(f"{start}-{end}" for start, end in passage["ranges"])
        mark = "GOLD " if passage["gold"] else ""
        console.print(Text(f"[{passage['number']}] {mark}{name} {where} ({passage['n_tokens']} tokens)", style="cyan"))
        _under(console, _marked(passage["text"], passage["gold"]))
    for entry in story["gold_elsewhere"]:
        ranks = f"at rank {', '.join(map(str, entry['ranks'][:5]))} of the ranking" if entry["ranks"] else "not ranked"
        console.print(Text(f"gold page {one_line(entry['document'])} is not in the context: {ranks}", style="red"))


def _marked(text: str, gold: Sequence[Sequence[int]]) -> Text:
    if not gold or gold == [[0, len(text)]]:
        return Text(one_line(text, most=2 * _AROUND))
    shown = Text()
    last = 0
    for start, end in gold:
        if end <= last:
            continue
        begin = max(start, last)
        before = text[last:begin]
        shown.append(_shortened(before, keep_start=last == 0))
        shown.append(f"«{one_line(text[begin:end])}»", style="bold green")
        shown.append(" ")
        last = end
    shown.append(one_line(text[last:], most=_AROUND))
    return shown


def _shortened(text: str, *, keep_start: bool) -> str:
    flat = one_line(text)
    if len(flat) <= 2 * _AROUND:
        return flat + " " if flat else ""
    head = flat[: _AROUND // 2] + " … " if keep_start else "… "
    return f"{head}{flat[-_AROUND:]} "


def _print_answer(console: Console, story: Mapping[str, Any]) -> None:
    said = ""
    if story["form"]:
        gives = "gives an answer" if story["gives_answer"] else "gives no answer"
        said = f" (form {story['form']}, {gives}, relevancy {story['relevancy']})"
    _heading(console, f"Answer{said}")
    if story["no_answer"]:
        console.print(Text(f"no answer: {story['no_answer']}", style="red"))
    elif story["answer"] is not None:
        console.print(Text(visible(story["answer"])))


def _print_claims(console: Console, claims: Sequence[Mapping[str, Any]]) -> None:
    if not claims:
        return
    _heading(console, f"Claims: {len(claims)}")
    for claim in claims:
        word = claim["verdict"] or "not judged"
        line = Text(word, style=_STYLES.get(word, ""))
        line.append(f"  {one_line(claim['text'])}", style="default")
        _listed(console, f"{claim['number']}.", line)
        for quote in claim["quotes"]:
            _under(console, Text(f"[{quote['passage']}] “{one_line(quote['text'], most=300)}”", style="dim"))
        if claim["verdict"] == "UNVERIFIED":
            lost = "; ".join(one_line(quote, most=120) for quote in claim["lost_quotes"]) or "no quote"
            _under(console, Text(f"the judge said {claim['judged']}, and its evidence was not found: {lost}"))
        if claim["why"]:
            _under(console, Text(one_line(claim["why"], most=300), style="dim"))


def _print_points(console: Console, points: Sequence[Mapping[str, Any]]) -> None:
    if not points:
        return
    _heading(console, f"Key points: {len(points)}")
    for point in points:
        word = point["verdict"] or "not judged"
        line = Text(word, style=_STYLES.get(word, ""))
        weight = "vital" if point["vital"] else "okay"
        line.append(f"  {one_line(point['text'])} ({weight}, {point['status']})", style="default")
        _listed(console, "-", line)
        if point["quote"]:
            _under(console, Text(f"answer: “{one_line(point['quote'], most=300)}”", style="dim"))


def _print_cell(console: Console, story: Mapping[str, Any]) -> None:
    cell = story["cell"]
    if cell:
        reason = f", {cell['reason']}" if cell["reason"] else ""
        _heading(console, f"Cell: {cell['label']}{reason}; owner: {cell['owner']}")
        for name in ("correct", "grounded", "arrived"):
            if cell[name] is not None:
                console.print(Text(f"{name}: {'yes' if cell[name] else 'no'}{_page(cell, name)}"))
        for point in cell["failed_points"]:
            console.print(
                Text(
                    f"failed point {point['point_id']}: {point['verdict']}; its gold "
                    f"{_said(point['arrived'], yes='is in the context', no='is not in the context')}, "
                    f"{_said(point['used'], yes='a supported claim quotes it', no='no supported claim quotes it')}"
                )
            )
    for stage, step in story["states"].items():
        if step["state"]:
            message = f": {step['message']}" if step["message"] else ""
            console.print(Text(visible(f"{stage}: {step['state']} ({step['reason']}){message}"), style="yellow"))


def _page(cell: Mapping[str, Any], name: str) -> str:
    return " (page-level: gold names the page, not the place)" if name == "arrived" and cell["page_level"] else ""


def _said(value: object, *, yes: str, no: str) -> str:
    return "is not labelled" if value is None else yes if value else no
