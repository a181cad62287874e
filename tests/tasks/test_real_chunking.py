"""One set of labels, three chunk sizes: what recall@k hides and recall within a text budget shows."""

import json
import os
from collections import defaultdict
from pathlib import Path

import pytest

from flows.here import run_here
from tasks.compare import compare
from tasks.report import report_tables
from tasks.runs.prepare import Request, prepare
from tasks.summary import summarize

pytestmark = pytest.mark.skipif(
    "FOURCELLS_REAL_DATA" not in os.environ, reason="needs FOURCELLS_REAL_DATA, the folder of real data"
)

SIZES = (100, 250, 1000)


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = Path(os.environ["FOURCELLS_REAL_DATA"]) / "chunking_eval"
    folder = tmp_path_factory.mktemp("chunking")
    for name in ("corpus", "setups", "judges"):
        (folder / name).mkdir()
    for document in lines(source / "documents.jsonl"):
        (folder / "corpus" / f"{document['doc_id']}.txt").write_text(str(document["text"]), encoding="utf-8")
    gold = defaultdict(list)
    for span in lines(source / "spans.jsonl"):
        gold[span["query_id"]].append({"document": f"{span['corpus']}.txt", "start": span["start"], "end": span["end"]})
    questions = [
        {"id": query["query_id"], "text": query["text"], "gold": gold[query["query_id"]]}
        for query in lines(source / "queries.jsonl")
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(q) + "\n" for q in questions), encoding="utf-8")
    for size in SIZES:
        (folder / "setups" / f"t{size:04d}.toml").write_text(
            f"[splitting]\nby = 'tokens'\nmax_tokens = {size}\n", "utf-8"
        )
    (folder / "judges" / "offline.toml").touch()
    return folder


def test_larger_chunks_look_better_at_the_same_k_and_are_not(workspace: Path) -> None:
    plan = prepare(Request(workspace=workspace, until="retrieve"))
    run_here(plan, lambda _: None)
    comparison = compare(workspace)
    setups = summarize(comparison)["setups"]
    at_5 = [setups[f"t{size:04d}"]["metrics"]["recall@5"]["value"] for size in SIZES]
    within = [setups[f"t{size:04d}"]["metrics"]["recall@2000t"]["value"] for size in SIZES]
    assert {setups[name]["metrics"]["recall@5"]["n"] for name in setups} == {472}
    # Five larger chunks are more text, so recall@5 rises with the size whatever the retriever does.
    assert at_5 == sorted(at_5)
    assert at_5[-1] - at_5[0] > 0.15
    # Within the same 2,000 tokens the largest chunks lose: more of the text is not about the question.
    assert within[-1] < max(within)
    assert max(within) - min(within) < at_5[-1] - at_5[0]
    tables = report_tables(comparison)
    assert any("same k, different amount of text" in line for line in tables[0].below)
