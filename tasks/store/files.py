"""Writing files so that a crash at any moment leaves the old file or the new one, never half of one."""

import errno
import os
import secrets
from contextlib import suppress
from pathlib import Path

from schemas.errors import StoreError

# What is wrong with the machine or its rights, and not with a file.
_NOT_THE_FILE = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EACCES, errno.EPERM}
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under a temporary name, fsync it, and rename it into place.

    Raises:
        StoreError: When the disk is full or the folder cannot be written; nothing is left behind.
    """
    _write(path, content, durable=True)


def write_quickly(path: Path, content: bytes) -> None:
    """The same without fsync: whole after a killed process, perhaps gone after a power cut.

    Raises:
        StoreError: As above.
    """
    _write(path, content, durable=False)


def _write(path: Path, content: bytes, *, durable: bool) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            _write_all(descriptor, content)
            if durable:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(path)
        if durable:
            sync(path.parent)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        problem = store_error(error, path.parent)
        raise problem from error


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def sync(path: Path) -> None:
    """Make a file's bytes, or the names in a folder, durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def store_error(error: OSError, folder: Path) -> StoreError:
    """Say in a person's words what the operating system refused."""
    if error.errno in _FULL:
        return StoreError(
            "the disk is full, or a quota is used up",
            where=str(folder),
            remedy="All rows saved so far are kept and readable. Free some space and run the same command again; "
            "it goes on where it stopped.",
        )
    if error.errno in {errno.EMFILE, errno.ENFILE}:
        return StoreError(
            "too many files are open at once",
            where=str(folder),
            remedy="Raise the limit with: ulimit -n 4096. Or lower concurrency in the setup's and judge's TOML.",
        )
    return StoreError(
        f"the store cannot be written: {error.strerror or error}",
        where=str(folder),
        remedy="Give yourself the right to write there, or name another workspace with --workspace.",
    )


def is_damage(error: Exception) -> bool:
    """Whether an error says that a file is damaged: not that too many are open, or that it may not be read."""
    return not (isinstance(error, OSError) and error.errno in _NOT_THE_FILE)
