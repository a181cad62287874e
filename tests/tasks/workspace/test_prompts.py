"""Reading a prompt: comments leave no trace, and mistakes are told."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import InputError
from tasks.workspace.prompts import prompt_names, read_prompt, without_comments


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "prompts").mkdir()
    for name in ("grounded", "naive"):
        (tmp_path / "prompts" / f"{name}.md").write_text(f"Be {name}.\n<!-- why: to be it -->\n", encoding="utf-8")
    return tmp_path


def test_a_prompt(folder: Path) -> None:
    assert read_prompt(folder, "naive") == "Be naive."
    assert prompt_names(folder) == ["grounded", "naive"]


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("A.\nB.\n", "A.\nB."),
        ("A. <!-- x -->\nB.", "A.\nB."),
        ("A.\n<!-- x -->\nB.", "A.\nB."),
        ("A.\n  <!-- x --> <!-- y -->  \nB.", "A.\nB."),
        ("A.\n<!-- x\n\ny -->\nB.", "A.\nB."),
        ("A. <!-- x\ny -->\nB.", "A.\nB."),
        ("A. <!-- x --> B.", "A. B."),
        ("<!-- x --> A.", "A."),
        ("<!-- x -->\n\nA.\n<!-- y -->", "A."),
        ("A.  \n\nB.\t\n\n\n", "A.\n\nB."),
        ("A.\r\n<!-- x -->\r\nB.\r\n", "A.\nB."),
        ("\ufeffA.".removeprefix("\ufeff"), "A."),
        ("a --> b", "a --> b"),
        ("A.<!---->", "A."),
    ],
)
def test_comments_leave_no_trace(markdown: str, text: str) -> None:
    assert without_comments(markdown, where="") == text


@given(
    st.lists(st.sampled_from(["Be brief.", "Be exact.", "- A list.", "Use `<answer>`."]), min_size=1, max_size=8),
    st.lists(st.sampled_from([" <!-- why -->", "\n<!-- why: it\nis so. -->", "", "\n  <!-- a --> <!-- b -->  "]), min_size=8, max_size=8),
)  # fmt: skip
def test_no_comment_changes_a_prompt(lines: list[str], comments: list[str]) -> None:
    plain = "\n".join(["Begin.", *lines])
    commented = "\n".join(["Begin.", *(line + comment for line, comment in zip(lines, comments, strict=False))])
    assert without_comments(commented, where="") == without_comments(plain, where="")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the prompt is empty"),
        (b" \n\n", "the prompt is empty"),
        (b"<!-- only a comment -->\n", "the prompt is empty"),
        (b"A. <!-- x -->\n<!-- y\nB. -->\nC. <!-- z\n", "the comment that begins in line 4 never ends"),
        (b"A.\n<!-- x", "the comment that begins in line 2 never ends"),
        (b"A\xff", "not UTF-8"),
    ],
)
def test_mistakes(folder: Path, content: bytes, message: str) -> None:
    (folder / "prompts" / "naive.md").write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_prompt(folder, "naive")
    assert str(folder / "prompts" / "naive.md") in str(caught.value)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("grounde", "Did you mean grounded?"), ("../naive", "Did you mean naive?"), ("x", "Name one of these")],
)
def test_an_unknown_prompt(folder: Path, name: str, remedy: str) -> None:
    with pytest.raises(InputError) as caught:
        read_prompt(folder, name)
    assert caught.value.allowed == "grounded, naive"
    assert remedy in str(caught.value)


def test_no_prompts_yet(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none yet"):
        read_prompt(tmp_path, "naive")
