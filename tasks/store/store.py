"""One workspace's store: its schema version, its rows by record, its runs."""

import json
import threading
from pathlib import Path
from typing import Final

from schemas.errors import StoreError
from tasks.store.files import write_whole
from tasks.store.layout import SCHEMA_VERSION, SCHEMAS
from tasks.store.parts import PartList
from tasks.store.rows import Rows

_VERSION_FILE: Final = "store.json"


class Store:
    """Everything that was computed for one workspace.

    Args:
        root: The store's folder; it is made when the first row is saved.
        run_id: Who publishes; kept beside each row.

    Raises:
        StoreError: When the store was written by a newer release.
    """

    def __init__(self, root: Path, *, run_id: str = "") -> None:
        self.root = root
        self.run_id = run_id
        self._guard = threading.Lock()
        self._rows: dict[str, Rows] = {}
        self._check_version()

    def rows(self, record: str) -> Rows:
        """The rows of one record of the table in `tasks/store/layout.py`."""
        with self._guard:
            if record not in self._rows:
                parts = PartList(self.root / "rows" / record, record, self.root / "quarantine")
                self._rows[record] = Rows(parts, self.run_id)
            return self._rows[record]

    def records(self) -> list[str]:
        """Names of all records."""
        return list(SCHEMAS)

    @property
    def index_folder(self) -> Path:
        """Holds the search indexes, a folder per key."""
        return self.root / "index"

    @property
    def journal_folder(self) -> Path:
        """Holds each raw reply of a model, from the moment it arrives."""
        return self.root / "journal"

    @property
    def runs_folder(self) -> Path:
        """Holds the runs, a folder per run_id."""
        return self.root / "runs"

    def prepare(self) -> None:
        """Write the schema version, once, before the first row."""
        path = self.root / _VERSION_FILE
        if not path.exists():
            write_whole(path, json.dumps({"schema": SCHEMA_VERSION}).encode())

    def _check_version(self) -> None:
        path = self.root / _VERSION_FILE
        try:
            version = json.loads(path.read_bytes())["schema"]
        except FileNotFoundError:
            return
        except (ValueError, KeyError, TypeError) as error:
            message = "this file does not say which version of the store this is"
            remedy = f'Write {{"schema": {SCHEMA_VERSION}}} into it, or move the store away to begin anew.'
            raise StoreError(message, where=str(path), remedy=remedy) from error
        if version != SCHEMA_VERSION:
            raise StoreError(
                f"the store has schema {version!r}, and this release reads schema {SCHEMA_VERSION}",
                where=str(path),
                remedy="Use the release that wrote it, or move the store folder away to begin anew.",
            )
