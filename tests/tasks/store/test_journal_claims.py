"""Claims: of all who want to buy the same reply one may, and the dead hold nothing."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tasks.store.journal import Journal
from tests.claims import claim

KEY = "a" * 32
ROOT = Path(__file__).resolve().parents[3]


def _run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code in another process, with `journal` open there."""
    start = f"import os\nfrom pathlib import Path\nfrom tasks.store.journal import Journal\nfrom tests.claims import claim\njournal = Journal(Path({str(folder)!r}))\n"
    return subprocess.run([sys.executable, "-c", start + code], cwd=ROOT, check=False, capture_output=True, text=True)


def test_a_claim_is_held_until_released_even_against_its_own_owner(journal: Journal, folder: Path) -> None:
    second = Journal(folder)
    assert claim(journal, KEY, 0, owner="run", seconds=60)
    assert not claim(journal, KEY, 0, owner="run", seconds=60)
    assert not claim(second, KEY, 0, owner="other", seconds=60)
    assert claim(second, KEY, 1, owner="other", seconds=60)
    second.release(KEY, 0, owner="other")
    assert not claim(second, KEY, 0, owner="other", seconds=60)
    journal.release(KEY, 0, owner="run")
    assert claim(second, KEY, 0, owner="other", seconds=60)
    second.close()


def test_a_claim_expires(journal: Journal) -> None:
    assert claim(journal, KEY, 0, owner="run", seconds=-1)
    assert claim(journal, KEY, 0, owner="other", seconds=60)


def test_a_claim_ends_with_its_process(journal: Journal, folder: Path) -> None:
    code = 'assert claim(journal, "k", 0, owner="dead", seconds=3600)\nos.kill(os.getpid(), 9)'
    assert _run(code, folder).returncode == -signal.SIGKILL
    assert claim(journal, "k", 0, owner="run", seconds=60)
    assert _run('raise SystemExit(claim(journal, "k", 0, owner="third", seconds=60))', folder).returncode == 0


def test_a_claim_ends_with_its_journal(journal: Journal, folder: Path) -> None:
    other = Journal(folder)
    assert claim(other, KEY, 0, owner="other", seconds=60)
    other.close()
    assert claim(journal, KEY, 0, owner="run", seconds=60)


def test_one_of_many_gets_the_claim(folder: Path) -> None:
    journals = [Journal(folder) for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(lambda n: claim(journals[n % 4], KEY, 0, owner=str(n), seconds=60), range(32)))
    assert claims.count(True) == 1
    for journal in journals:
        journal.close()


def test_a_renewed_claim_has_its_time_from_then_on(journal: Journal, folder: Path) -> None:
    second = Journal(folder)
    assert claim(journal, KEY, 0, owner="run", seconds=60)
    assert journal.renew_all([(KEY, 0, 60.0), (KEY, 1, 60.0)], owner="run") == [True, False]
    assert not claim(second, KEY, 0, owner="other", seconds=60)
    assert journal.renew_all([(KEY, 0, -1.0)], owner="run") == [True]
    assert claim(second, KEY, 0, owner="other", seconds=60)
    second.close()


def test_what_has_run_out_or_is_another_ones_is_not_renewed(journal: Journal, folder: Path) -> None:
    second = Journal(folder)
    assert claim(journal, KEY, 0, owner="run", seconds=-1)
    assert claim(journal, KEY, 1, owner="run", seconds=60)
    wanted = [(KEY, 0, 60.0), (KEY, 1, 60.0)]
    assert second.renew_all(wanted, owner="run") == [False, False]
    assert journal.renew_all(wanted, owner="other") == [False, False]
    assert journal.renew_all(wanted, owner="run") == [False, True]
    assert claim(second, KEY, 0, owner="other", seconds=60)
    second.close()


def test_several_are_given_back_at_once(journal: Journal, folder: Path) -> None:
    second = Journal(folder)
    assert all(claim(journal, KEY, n, owner="run", seconds=60) for n in range(3))
    assert claim(second, KEY, 3, owner="other", seconds=60)
    journal.release_all([(KEY, n) for n in (0, 2, 3, 4)], owner="run")
    assert [claim(second, KEY, n, owner="third", seconds=60) for n in range(5)] == [True, False, True, False, True]
    second.close()
