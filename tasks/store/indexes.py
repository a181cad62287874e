"""Search indexes on disk, one folder per key, opened only when a ranking is missing."""

import logging
import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Final

from filelock import FileLock

from tasks.search.bm25 import Bm25Index
from tasks.store.files import store_error, sync

log = logging.getLogger("fourcells.store")

_HELD: Final = 3
_open: "OrderedDict[Path, Bm25Index]" = OrderedDict()
_guard = threading.Lock()


def open_index(folder: Path, name: str, build: Callable[[], Bm25Index]) -> Bm25Index:
    """Open a saved index, or build and save it; one process builds while others wait.

    Raises:
        StoreError: When it cannot be written.
    """
    path = folder / name
    with _guard:
        if path not in _open:
            _open[path] = _load(path) or _build(path, build)
        _open.move_to_end(path)
        while len(_open) > _HELD:
            _open.popitem(last=False)
        return _open[path]


def _load(path: Path) -> Bm25Index | None:
    if not path.is_dir():
        return None
    try:
        return Bm25Index.load(path)
    except (OSError, ValueError, KeyError, EOFError) as error:
        log.warning("index %s cannot be read and is built anew: %s", path.name, error)
        return None


def _build(path: Path, build: Callable[[], Bm25Index]) -> Bm25Index:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.parent / "lock"):
            # Another process may have built it while this one waited.
            index = _load(path)
            if index is None:
                index = build()
                _save(index, path)
    except OSError as error:
        problem = store_error(error, path.parent)
        raise problem from error
    return index


def _save(index: Bm25Index, path: Path) -> None:
    """Write and rename, whatever a killed process or a damaged disk left under these names."""
    temporary = path.with_name(f".{path.name}.building")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        index.save(temporary)
        for file in temporary.iterdir():
            sync(file)
        shutil.rmtree(path, ignore_errors=True)
        temporary.rename(path)
        sync(path.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
