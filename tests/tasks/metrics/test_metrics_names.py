"""The table of names and the reading of one."""

import re

import pytest

from tasks.metrics import METRICS, Metric, parse_metric

READ_CASES: dict[str, tuple[str, str, int | None, str]] = {
    "a k": ("recall@5", "recall@k", 5, "recall@5"),
    "a large k": ("ndcg@100", "ndcg@k", 100, "nDCG@100"),
    "a token budget": ("recall@2000t", "recall@Nt", 2000, "recall @2000 tokens"),
    "no parameter": ("supported_rate", "supported_rate", None, "claims supported"),
}


@pytest.mark.parametrize(("name", "template", "value", "heading"), READ_CASES.values(), ids=READ_CASES)
def test_read(name: str, template: str, value: int | None, heading: str) -> None:
    named = parse_metric(name)
    assert (named.metric, named.value, named.name, named.heading) == (METRICS[template], value, name, heading)


REFUSED_CASES: dict[str, tuple[str, str]] = {
    "a slip": ("recal@5", "the nearest is 'recall@5'"),
    "upper case": ("Recall@5", "the nearest is 'recall@5'"),
    "a leading zero": ("recall@05", "the nearest is 'recall@5'"),
    "no k": ("recall", "the nearest is 'recall@5'"),
    "the template itself": ("recall@k", "the nearest is 'recall@5'"),
    "k of zero": ("recall@0", "the nearest is 'recall@5'"),
    "a budget of zero": ("recall@0t", "the nearest is 'recall@2000t'"),
    "tokens where only k goes": ("hit@2000t", "the nearest is 'hit@2000'"),
    "a parameter where none goes": ("mrr@10", "the nearest is 'mrr'"),
    "hyphens": ("supported-rate", "the nearest is 'supported_rate'"),
    "spaces around": (" mrr ", "the nearest is 'mrr'"),
    "nothing like it": ("faithful?", "known are recall@k, hit@k"),
    "empty": ("", "known are recall@k, hit@k"),
}


@pytest.mark.parametrize(("name", "message"), REFUSED_CASES.values(), ids=REFUSED_CASES)
def test_refused(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"unknown metric {name!r}; {message}")):
        parse_metric(name)


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_a_row_is_complete_and_reads_back(metric: Metric) -> None:
    assert re.fullmatch(r"[a-z_]+(@k|@Nt)?", metric.name)
    assert ("@" in metric.name) == (metric.parameter is not None)
    assert metric.heading
    assert metric.meaning.endswith(".")
    assert metric.section in {"2", "3", "5"}
    example = metric.name.replace("@k", "@7").replace("@N", "@700")
    assert parse_metric(example).metric is metric
    assert parse_metric(example).name == example


def test_headings_tell_the_metrics_apart() -> None:
    assert len({metric.heading for metric in METRICS.values()}) == len(METRICS)


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        METRICS["mine"] = METRICS["mrr"]  # type: ignore[index]
