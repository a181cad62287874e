"""The store's schema version: read, written once, never misread."""

import json
from pathlib import Path

import pytest

from schemas.errors import StoreError
from tasks.store.layout import SCHEMA_VERSION
from tasks.store.store import Store


def test_a_new_store_is_made_when_it_is_prepared(tmp_path: Path) -> None:
    Store(tmp_path / "store")
    assert not (tmp_path / "store").exists()
    Store(tmp_path / "store").prepare()
    assert json.loads((tmp_path / "store" / "store.json").read_text(encoding="utf-8")) == {"schema": SCHEMA_VERSION}
    Store(tmp_path / "store").prepare()


@pytest.mark.parametrize("version", [SCHEMA_VERSION + 1, 0, "1", None], ids=["newer", "older", "text", "null"])
def test_another_schema_is_refused_with_the_way_out(version: object, tmp_path: Path) -> None:
    (tmp_path / "store.json").write_text(json.dumps({"schema": version}), encoding="utf-8")
    with pytest.raises(StoreError) as caught:
        Store(tmp_path)
    assert caught.value.exit_code == 2
    assert str(caught.value) == (
        f"{tmp_path / 'store.json'}: the store has schema {version!r}, and this release reads schema "
        f"{SCHEMA_VERSION}. Use the release that wrote it, or move the store folder away to begin anew."
    )


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", "null", "{"], ids=["empty", "list", "no schema", "null", "cut off"]
)
def test_a_version_file_that_says_nothing_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "store.json").write_text(content, encoding="utf-8")
    with pytest.raises(StoreError, match="does not say which version"):
        Store(tmp_path)
