"""The SDK alone, as a measure of what is ours: the same calls under a semaphore, nothing kept and nothing parsed.

Runs as `python -m tests.bench.llm_bare`, with `Task` as JSON on its command line, and prints `Bare` as JSON.
"""

import asyncio
import sys
import time
from typing import Any

from schemas.record import Record
from tests.bench.llm_client import Task, requests


class Bare(Record):
    """Seconds from the first call to the last reply, and processor seconds in that time."""

    seconds: float
    cpu_s: float


async def ask_all(task: Task, bodies: list[dict[str, Any]]) -> Bare:
    """Send all, so many at once."""
    import anthropic  # noqa: TID251 - it is what is measured

    client = anthropic.AsyncAnthropic(
        base_url=task.base_url, api_key="stub-key", max_retries=0, http_client=anthropic.DefaultAioHttpClient()
    )
    slots = asyncio.Semaphore(task.concurrency)

    async def ask(body: dict[str, Any]) -> None:
        async with slots:
            await client.messages.with_raw_response.create(**body, timeout=task.deadline_s)

    began, began_cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*map(ask, bodies))
    took = Bare(seconds=time.perf_counter() - began, cpu_s=time.process_time() - began_cpu)
    await client.close()
    return took


def bodies(n: int) -> list[dict[str, Any]]:
    """Of the same size as the judge's, without its instructions' schema."""
    return [
        {
            "model": "claude-sonnet-4-6",
            "max_tokens": 8_192,
            "messages": [{"role": "user", "content": [{"type": "text", "text": one.model_dump_json()}]}],
        }
        for one in requests(n)
    ]


if __name__ == "__main__":
    what = Task.model_validate_json(sys.argv[1])
    sys.stdout.write(asyncio.run(ask_all(what, bodies(what.questions))).model_dump_json() + "\n")
