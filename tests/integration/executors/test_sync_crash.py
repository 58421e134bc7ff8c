"""An attempt that dies in the middle leaves nothing half done, and the next one goes on (E13)."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

from tests.support.storing import plant, result_of, sync, tree_of

from rota.executors.sync import SyncPlace
from rota.executors.sync.tree import TEMPORARY_PREFIX
from rota.sdk.testing import RecordingContext

SIZE = 4 * 1024 * 1024
# Kills itself, as hard as can be, when the first bytes of the large file have been written.
DYING = """
import asyncio, itertools, os, signal, sys
from rota.executors.sync import SyncPlace, SyncExecutor
from rota.runtime.clock import SystemClock
from rota.sdk.testing import RecordingContext

class Dying(RecordingContext):
    def progress(self, fraction, message=""):
        if fraction > 0.2:
            os.kill(os.getpid(), signal.SIGKILL)

class Leaping(SystemClock):
    ticks = itertools.count()

    def monotonic(self):
        return next(self.ticks)

async def main(here, there):
    places = [SyncPlace(name="here", url=here), SyncPlace(name="there", url=there)]
    executor = SyncExecutor(places, clock=Leaping())
    await executor.open()
    order = {"from": "here:/", "to": "there:/", "mode": "mirror", "parallel": 1}
    await executor.run(executor.read("sync", order), Dying())

asyncio.run(main(*sys.argv[1:]))
"""


def test_after_kill_9_in_the_middle_of_a_large_file_the_next_attempt_finishes(
    tmp_path: Path,
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    plant(here, {"0 small": b"small", "1 large": b"x" * SIZE, "2 last": b"last"})
    plant(there, {"1 large": b"what was there", "extra": b"deleted at the end only"})
    urls = f"file://{here}", f"file://{there}"

    died = subprocess.run([sys.executable, "-c", DYING, *urls], check=False, timeout=60)
    after = tree_of(there)
    places = SyncPlace(name="here", url=urls[0]), SyncPlace(name="there", url=urls[1])
    second = RecordingContext(attempt=2)
    result = result_of(
        asyncio.run(sync(places, second, from_="here:/", to="there:/", mode="mirror"))
    )

    assert died.returncode == -signal.SIGKILL
    halves = [after.pop(name) for name in list(after) if name.startswith(TEMPORARY_PREFIX)]
    assert [0 < len(half) < SIZE for half in halves] == [True]
    assert after == {
        "0 small": b"small",
        "1 large": b"what was there",
        "extra": b"deleted at the end only",
    }
    assert (result["skipped"], result["copied"], result["deleted"]) == (1, 2, 1)
    assert tree_of(there) == tree_of(here)
