"""Reading a metric's name: `recall@5` is a value with one canonical spelling."""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from tasks.metrics.table import METRICS, Metric, Parameter

_PARAMETER: Final = re.compile(r"(?P<base>[a-z_]+)@(?P<value>[1-9][0-9]*)(?P<unit>t?)")
_EXAMPLES: Final[dict[Parameter, int]] = {"k": 5, "tokens": 2000}


@dataclass(frozen=True, slots=True)
class NamedMetric:
    """A metric as somebody named it: `recall@5` is the template `recall@k` with the value 5.

    Attributes:
        metric: The row of `METRICS`.
        value: k, or the token budget; None for a metric without parameter.
    """

    metric: Metric
    value: int | None = None

    @property
    def name(self) -> str:
        """The canonical spelling.

        >>> parse_metric("recall@2000t").name
        'recall@2000t'
        """
        return _fill(self.metric.name, self.value)

    @property
    def heading(self) -> str:
        """The heading with its parameter filled in.

        >>> parse_metric("hit@3").heading
        'hit@3'
        """
        return _fill(self.metric.heading, self.value)


def parse_metric(name: str) -> NamedMetric:
    """Read a metric's name.

    Raises:
        ValueError: It is not the canonical spelling of any metric; the nearest one is named.

    >>> parse_metric("recall@5").metric.name, parse_metric("recall@5").value
    ('recall@k', 5)
    >>> parse_metric("Recall@05")
    Traceback (most recent call last):
    ValueError: unknown metric 'Recall@05'; the nearest is 'recall@5'
    """
    named = _read(name)
    if named is not None:
        return named
    msg = f"unknown metric {name!r}; {_suggest(name)}"
    raise ValueError(msg)


def _read(name: str) -> NamedMetric | None:
    if name in METRICS and METRICS[name].parameter is None:
        return NamedMetric(METRICS[name])
    match = _PARAMETER.fullmatch(name)
    if match is None:
        return None
    template = METRICS.get(f"{match['base']}@{'Nt' if match['unit'] else 'k'}")
    return None if template is None else NamedMetric(template, int(match["value"]))


def _suggest(name: str) -> str:
    base, _, given = re.sub(r"[-\s]+", "_", name.strip().lower()).partition("@")
    by_base: dict[str, dict[Parameter | None, Metric]] = {}
    for metric in METRICS.values():
        by_base.setdefault(metric.name.partition("@")[0], {})[metric.parameter] = metric
    close = get_close_matches(base, by_base, n=1)
    if not close:
        return f"known are {', '.join(METRICS)}"
    by_parameter = by_base[close[0]]
    metric = by_parameter.get("tokens" if given.endswith("t") else "k") or next(iter(by_parameter.values()))
    if metric.parameter is None:
        return f"the nearest is {metric.name!r}"
    number = re.search(r"[1-9][0-9]*", given)
    value = int(number[0]) if number else _EXAMPLES[metric.parameter]
    return f"the nearest is {_fill(metric.name, value)!r}"


def _fill(template: str, value: int | None) -> str:
    return template if value is None else re.sub(r"@(k|N)", f"@{value}", template)
