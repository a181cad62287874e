"""The corpus: Markdown, plain text and HTML files, and BEIR's `corpus.jsonl`, as documents with stable ids."""

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from schemas.document import Document
from schemas.errors import InputError
from tasks.workspace.settings import parse_object, read_text

TEXT_SUFFIXES: Final = frozenset({".md", ".markdown", ".txt", ".text", ".rst"})
HTML_SUFFIXES: Final = frozenset({".html", ".htm"})
_BEIR: Final = "corpus.jsonl"
_HEADING: Final = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
_HTML_TITLE: Final = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)


def read_corpus(workspace: Path) -> list[Document]:
    r"""Read all documents of `corpus/`, ordered by id.

    A file's id is its path under `corpus/` with forward slashes; a line of `corpus.jsonl` has its `_id`. Files
    of other kinds and hidden files are passed over. Lines end in "\n" whatever the file says.

    Raises:
        InputError: When the folder is missing or empty, a file is not UTF-8, or two documents share an id.
    """
    folder = workspace / "corpus"
    if not folder.is_dir():
        raise InputError(
            "the workspace has no corpus/ folder",
            where=str(workspace),
            remedy="Put your Markdown, text or HTML files (or a BEIR corpus.jsonl) there.",
        )
    documents: dict[str, Document] = {}
    for document in _read(folder):
        if document.document_id in documents:
            raise InputError(
                f"document id {document.document_id!r} is there twice",
                where=str(folder),
                remedy="Give one of them another name.",
            )
        documents[document.document_id] = document
    if not documents:
        raise InputError(
            "the corpus is empty",
            where=str(folder),
            allowed=", ".join(sorted(TEXT_SUFFIXES | HTML_SUFFIXES)) + f" files, or {_BEIR}",
            remedy="Put the documents there that your assistant answers from.",
        )
    return [documents[name] for name in sorted(documents)]


def _read(folder: Path) -> Iterator[Document]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if any(part.startswith(".") for part in name.parts) or not path.is_file():
            continue
        if path.name == _BEIR:
            yield from _read_beir(path)
        elif path.suffix.lower() in TEXT_SUFFIXES:
            text = _lines(read_text(path))
            yield Document(document_id=name.as_posix(), title=_title(text, name.stem), text=text)
        elif path.suffix.lower() in HTML_SUFFIXES:
            yield _read_html(path, name)


def _read_beir(path: Path) -> Iterator[Document]:
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path} line {number}"
        fields = parse_object(line, where=where)
        document_id, text, title = fields.get("_id"), fields.get("text"), fields.get("title") or ""
        if not isinstance(document_id, str) or not document_id or not isinstance(text, str):
            raise InputError("a document needs a string _id and a string text", where=where)
        title, text = str(title), _lines(text)
        # BEIR keeps the title apart; it is searched too, unless the text begins with it.
        whole = text if not title or text.lstrip().startswith(title) else f"{title}\n\n{text}"
        yield Document(document_id=document_id, title=title or document_id, text=whole)


def _read_html(path: Path, name: Path) -> Document:
    # Imported here: only a corpus with HTML pays for it.
    from html_to_markdown import ConversionOptions, convert  # noqa: PLC0415

    source = read_text(path)
    options = ConversionOptions(extract_metadata=False)
    text = _lines(convert(source, options).content or "")
    found = _HTML_TITLE.search(source)
    title = " ".join(html.unescape(found.group(1)).split()) if found else _title(text, name.stem)
    return Document(document_id=name.as_posix(), title=title, text=text)


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _title(text: str, fallback: str) -> str:
    found = _HEADING.search(text)
    return found.group(1) if found else fallback
