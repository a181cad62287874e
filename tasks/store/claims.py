"""Who is at something right now: claims that end with their time, their release, or their process."""

import json
import secrets
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from tasks.store.entries import Entries, Transaction

# Claims are made between other things, and a transaction of another process takes less.
_LOOK_S: Final = 0.01


class Claims:
    """Claims on names, over all processes that share the folder.

    A claim of a killed process ends at once and not with its time, so that a resumed run need not wait:
    every claimant holds the lock of a file of its own, which the operating system frees with the process.

    Args:
        root: Holds the folder of the claims and of the files of the living.
        patience_s: Seconds to wait for another process that holds the database.
    """

    def __init__(self, root: Path, *, patience_s: float = 60.0) -> None:
        self._entries = Entries(root, "claims", durable=False, patience_s=patience_s, look_s=_LOOK_S)
        self._token = secrets.token_hex(8)
        self._guard = threading.Lock()
        self._alive: FileLock | None = None

    def claim_all(
        self, wanted: Sequence[tuple[str, float]], *, owner: str, patience_s: float | None = None
    ) -> list[bool]:
        """Take names that nobody holds; their own owner is refused too: one of two equal calls is one too many.

        Args:
            wanted: Names, and for how many seconds.
            owner: Who may release them.
            patience_s: See `Entries.write`.

        Returns:
            Whether each was taken.

        Raises:
            HeldError: When another process holds the database longer.
            StoreError: When the folder cannot be read or written.
        """
        self._show_life(patience_s)
        mine = self._held_by(owner)

        def take(cache: Transaction) -> list[bool]:
            return [
                cache.add(name, mine, expire=seconds)
                or (not self._lives(cache.get(name)) and cache.set(name, mine, expire=seconds))
                for name, seconds in wanted
            ]

        return self._entries.write(take, patience_s=patience_s)

    def renew_all(self, wanted: Sequence[tuple[str, float]], *, owner: str) -> list[bool]:
        """Hold names longer that this owner holds through here; what has run out or was released stays so.

        Args:
            wanted: Names, and for how many seconds from now.
            owner: Who claimed them.

        Returns:
            Whether each was still held.

        Raises:
            StoreError: As above.
        """
        mine = self._held_by(owner)

        def renew(cache: Transaction) -> list[bool]:
            return [cache.get(name) == mine and cache.set(name, mine, expire=seconds) for name, seconds in wanted]

        return self._entries.write(renew)

    def release_all(self, names: Sequence[str], *, owner: str) -> None:
        """Give names back, those that this owner still holds.

        Raises:
            StoreError: As above.
        """
        if all(self._entries.get(name) is None for name in names):
            return

        def drop(cache: Transaction) -> None:
            for name in names:
                held = cache.get(name)
                if held is not None and json.loads(held)[0] == owner:
                    cache.delete(name)

        self._entries.write(drop)

    def close(self) -> None:
        """End all claims made here."""
        with self._guard:
            if self._alive is not None:
                self._alive.release()
                self._path(self._token).unlink(missing_ok=True)
                self._alive = None
        self._entries.close()

    def _held_by(self, owner: str) -> bytes:
        return json.dumps([owner, self._token]).encode()

    def _path(self, token: str) -> Path:
        return self._entries.folder / f"{token}.alive"

    def _show_life(self, patience_s: float | None) -> None:
        with self._guard:
            if self._alive is None:
                self._entries.write(lambda cache: cache.expire(), patience_s=patience_s)
                self._alive = FileLock(self._path(self._token), thread_local=False)
                self._alive.acquire()

    def _lives(self, held: bytes | None) -> bool:
        if held is None:
            return False
        token = json.loads(held)[1]
        path = self._path(token)
        if token == self._token:
            return True
        if not path.exists():
            return False
        try:
            with FileLock(path, timeout=0, thread_local=False):
                path.unlink(missing_ok=True)
        except Timeout:
            return True
        return False
