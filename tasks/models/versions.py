"""Versions of the offline seats: they enter keys, which are made far more often than the seats are needed."""

from typing import Final

# Raise one whenever its seat would write, read or judge the same request otherwise.
OFFLINE_WRITER: Final = 1
OFFLINE_READER: Final = 3
OFFLINE_JUDGE: Final = 2
