"""Measured in an environment of its own: faithfulness by ragas, its calls to a chat completions server.

    python ragas_faithfulness.py URL CASES.json CONCURRENCY instructor|langchain

prints {"seconds", "cpu_s", "scores"} as JSON. It knows nothing of fourcells.
"""

import json
import sys
import time
from pathlib import Path

from openai import AsyncOpenAI  # type: ignore[import-not-found]
from ragas import EvaluationDataset, RunConfig, evaluate  # type: ignore[import-not-found]
from ragas.llms import LangchainLLMWrapper, llm_factory  # type: ignore[import-not-found]
from ragas.metrics import Faithfulness  # type: ignore[import-not-found]

_MODEL = "gpt-4o-mini"


def main(url: str, cases: str, concurrency: str, how: str) -> None:
    """Evaluate all cases at once."""
    if how == "instructor":
        llm = llm_factory(_MODEL, client=AsyncOpenAI(base_url=f"{url}/v1", api_key="stub-key"))
    else:
        from langchain_openai import ChatOpenAI  # type: ignore[import-not-found]

        llm = LangchainLLMWrapper(ChatOpenAI(model=_MODEL, base_url=f"{url}/v1", api_key="stub-key"))
    rows = [
        {"user_input": case["question"], "response": case["answer"], "retrieved_contexts": case["passages"]}
        for case in json.loads(Path(cases).read_text(encoding="utf-8"))
    ]
    dataset = EvaluationDataset.from_list(rows)
    config = RunConfig(max_workers=int(concurrency), timeout=600)
    began, began_cpu = time.perf_counter(), time.process_time()
    result = evaluate(dataset, metrics=[Faithfulness(llm=llm)], run_config=config, show_progress=False)
    found = {
        "seconds": time.perf_counter() - began,
        "cpu_s": time.process_time() - began_cpu,
        "scores": [score for score in result["faithfulness"] if score == score],  # noqa: PLR0124 - NaN is none
    }
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
