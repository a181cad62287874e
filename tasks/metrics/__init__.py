"""What every number means, as pure arithmetic; `METRICS` is the table of names."""

from tasks.metrics.names import NamedMetric, parse_metric
from tasks.metrics.table import METRICS, Metric

__all__ = ["METRICS", "Metric", "NamedMetric", "parse_metric"]
