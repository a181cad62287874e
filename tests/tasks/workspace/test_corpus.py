"""Documents from Markdown, text, HTML and BEIR."""

import json
from pathlib import Path

import pytest

from schemas.document import Document
from schemas.errors import InputError
from tasks.workspace.corpus import read_corpus

PAGE = """<html><head><title>Limits &amp; plans</title><style>p{color:red}</style></head><body>
<h1>Limits</h1><p>Ten <b>requests</b> a second.<script>alert(1)</script></p>
<table><tr><th>Plan</th><th>Days</th></tr><tr><td>Team</td><td>7</td></tr></table>
<pre><code>curl -X POST</code></pre></body></html>"""


def corpus(folder: Path, files: dict[str, str | bytes]) -> list[Document]:
    for name, content in files.items():
        path = folder / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_corpus(folder)


@pytest.mark.parametrize(
    ("files", "ids"),
    [
        pytest.param({"b.md": "B", "a.txt": "A", "sub/c.markdown": "C"}, ["a.txt", "b.md", "sub/c.markdown"], id="ordered by path"),
        pytest.param({"a.md": "A", ".git/x.md": "X", ".hidden.md": "H", "x.png": b"\x89"}, ["a.md"], id="hidden and foreign files passed over"),
        pytest.param({"a b: c.md": "A", "😀.md": "B"}, ["a b: c.md", "😀.md"], id="any file name"),
    ],
)  # fmt: skip
def test_ids(tmp_path: Path, files: dict[str, str | bytes], ids: list[str]) -> None:
    assert [document.document_id for document in corpus(tmp_path, files)] == ids


@pytest.mark.parametrize(
    ("name", "content", "title", "text"),
    [
        pytest.param(
            "a.md", "# The title #\n\nText.", "The title", "# The title #\n\nText.", id="title from a heading"
        ),
        pytest.param("a.md", "No heading.", "a", "No heading.", id="title from the file name"),
        pytest.param("a.md", b"\xef\xbb\xbfA\r\nB\rC", "a", "A\nB\nC", id="byte-order mark and line ends"),
    ],
)
def test_text(tmp_path: Path, name: str, content: str | bytes, title: str, text: str) -> None:
    document = corpus(tmp_path, {name: content})[0]
    assert (document.title, document.text) == (title, text)


def test_html_becomes_markdown_with_its_table_and_code(tmp_path: Path) -> None:
    document = corpus(tmp_path, {"limits.html": PAGE})[0]
    assert document.title == "Limits & plans"
    assert "# Limits" in document.text
    assert "Ten **requests** a second." in document.text
    assert "| Team" in document.text
    assert "curl -X POST" in document.text
    assert "alert" not in document.text
    assert "color" not in document.text


def test_beir_keeps_ids_and_searches_titles(tmp_path: Path) -> None:
    lines = [
        {"_id": "https://x.example/a#b", "title": "Retention", "text": "Seven days."},
        {"_id": "2", "title": "Retention", "text": "Retention\nSeven days."},
        {"_id": "3", "text": "No title, and a line separator \u2028 inside."},
    ]
    documents = corpus(tmp_path, {"corpus.jsonl": "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)})
    assert {document.document_id: document.text for document in documents} == {
        "https://x.example/a#b": "Retention\n\nSeven days.",
        "2": "Retention\nSeven days.",
        "3": "No title, and a line separator \u2028 inside.",
    }


@pytest.mark.parametrize(
    ("files", "said"),
    [
        pytest.param({"corpus.jsonl": '{"_id": 1, "text": "x"}'}, "corpus.jsonl line 1", id="id that is no string"),
        pytest.param({"corpus.jsonl": '{"_id": "a", "text": "\\ud800"}'}, "corpus.jsonl line 1", id="half a character"),
        pytest.param({"corpus.jsonl": '{"_id": "a", "text": "x"}\n{"_id": "a", "text": "y"}'}, "twice", id="id twice"),
    ],
)
def test_mistakes(tmp_path: Path, files: dict[str, str | bytes], said: str) -> None:
    with pytest.raises(InputError, match=said):
        corpus(tmp_path, files)
