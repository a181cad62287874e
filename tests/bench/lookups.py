"""Keys looked up among a million stored rows."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

import pyarrow as pa

from tasks.store.layout import SCHEMAS
from tasks.store.store import Store
from tests.bench.figure import Figure, timed

_N_ROWS: Final = 1_000_000
_N_KEYS: Final = 100_000
_PARTS: Final = 50


def measure_lookups(folder: Path) -> Iterator[Figure]:
    """The store is opened anew each time: reading and checking its parts is a part of what is measured."""
    root = folder / "lookups"
    names = _fill(root)
    wanted = Random(7).sample(names, _N_KEYS)  # noqa: S311 - a draw, not a secret

    def look_up() -> None:
        found = Store(root).rows("answer").carried(wanted)
        assert None not in found

    opened = timed(look_up, n=5)
    rows = Store(root).rows("answer")
    rows.carried(wanted[:1])
    known = timed(lambda: rows.carried(wanted), n=7)
    told = f"{known.shown()}; with the store opened anew each time {opened.shown()}"
    work = "100,000 keys looked up in 1,000,000 stored rows (answers, with their carried columns), after compaction"
    yield Figure(work, "≤ 0.3 s", told, known.median <= 0.3)


def _fill(root: Path) -> list[str]:
    random = Random(8)  # noqa: S311 - keys that look like hashes
    names = [f"{random.getrandbits(128):032x}" for _ in range(_N_ROWS)]
    rows = Store(root).rows("answer")
    schema = SCHEMAS["answer"]
    size = _N_ROWS // _PARTS
    for start in range(0, _N_ROWS, size):
        own = names[start : start + size]
        columns = {
            "key": own,
            "text": [f"The answer {name} says so." for name in own],
            "text_digest": [name[::-1] for name in own],
            "n_words": [5] * size,
        }
        table = pa.table({field.name: pa.array(columns.get(field.name, [None] * size), field.type) for field in schema})
        with rows.parts.locked():
            rows.parts.add(table)
    rows.compact()
    return names
