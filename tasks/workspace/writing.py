"""Replacing a file of the workspace whole, so that a crash leaves the old one or the new one."""

import os
from pathlib import Path

from tasks.store.files import write_whole


def replace_text(path: Path, text: str) -> None:
    """Write a file of the workspace under a temporary name and rename it into place; its mode stays as it was.

    Raises:
        StoreError: When the disk is full or the folder cannot be written; the old file is there then.
    """
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
    write_whole(path, text.encode("utf-8"))
    path.chmod(mode)


def _umask() -> int:
    # The only way to read it is to set it.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
