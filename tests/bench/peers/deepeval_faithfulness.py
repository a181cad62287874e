"""Measured in an environment of its own: faithfulness by deepeval, its calls to a Messages API.

    python deepeval_faithfulness.py URL CASES.json CONCURRENCY

prints {"seconds", "cpu_s", "scores"} as JSON. It knows nothing of fourcells.
"""

import json
import os
import sys
import time
from pathlib import Path

os.environ["ANTHROPIC_BASE_URL"] = sys.argv[1]
os.environ["ANTHROPIC_API_KEY"] = "stub-key"
# With a thousand cases its loop is so busy that calls outlive its own time-outs, and one of them ends everything.
os.environ["DEEPEVAL_DISABLE_TIMEOUTS"] = "YES"

from deepeval import evaluate  # type: ignore[import-not-found]
from deepeval.evaluate import (  # type: ignore[import-not-found]
    AsyncConfig,
    CacheConfig,
    DisplayConfig,
    ErrorConfig,
)
from deepeval.metrics import FaithfulnessMetric  # type: ignore[import-not-found]
from deepeval.models import AnthropicModel  # type: ignore[import-not-found]
from deepeval.test_case import LLMTestCase  # type: ignore[import-not-found]

_MODEL = "claude-sonnet-4-6"


def main(_url: str, cases: str, concurrency: str) -> None:
    """Evaluate all cases at once."""
    rows = [
        LLMTestCase(input=case["question"], actual_output=case["answer"], retrieval_context=case["passages"])
        for case in json.loads(Path(cases).read_text(encoding="utf-8"))
    ]
    metric = FaithfulnessMetric(model=AnthropicModel(model=_MODEL))
    began, began_cpu = time.perf_counter(), time.process_time()
    result = evaluate(
        rows,
        [metric],
        async_config=AsyncConfig(max_concurrent=int(concurrency), throttle_value=0),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
        cache_config=CacheConfig(write_cache=False),
        error_config=ErrorConfig(ignore_errors=True),
    )
    found = {
        "seconds": time.perf_counter() - began,
        "cpu_s": time.process_time() - began_cpu,
        "scores": [one.metrics_data[0].score for one in result.test_results if one.metrics_data[0].score is not None],
    }
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
