"""The tools of a chaos run do what the checker counts on: the sink keeps every line whole, faults
follow from the seed, and expected ticks are found without Rota's help.
"""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from uuid import UUID

from tests.chaos.history import Plan
from tests.chaos.nemesis import Fault, strikes_of
from tests.chaos.ticks import ticks_of
from tests.support.sink import read_marks

NOON = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
JOB = UUID(int=1)
ROOT = Path(__file__).parents[2]
WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from uuid import UUID
from tests.support.sink import Sink

sink = Sink(Path(sys.argv[1]))
for number in range(500):
    sink.mark("start", SimpleNamespace(
        run_id=UUID(int=number), job_id=UUID(int=1), attempt=int(sys.argv[2]),
        scheduled_at=datetime(2026, 7, 1, tzinfo=UTC), kind="x" * number,
    ))
"""


def test_lines_of_many_processes_stay_whole_and_each_is_there_once(tmp_path: Path) -> None:
    sink = tmp_path / "sink.jsonl"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(sink), str(number)], cwd=ROOT)
        for number in range(3)
    ]

    codes = [writer.wait() for writer in writers]

    marks = list(read_marks(sink))
    assert codes == [0, 0, 0]
    assert len({(mark.run_id, mark.attempt) for mark in marks}) == len(marks) == 1500
    assert all(mark.kind == "x" * mark.run_id.int for mark in marks)


def test_the_same_seed_strikes_alike_and_every_fault_comes_at_least_once() -> None:
    once, again, other = (
        strikes_of(Random(seed), seconds=60, every=3, lease=3) for seed in (1, 1, 2)
    )

    assert once == again != other
    assert {strike.fault for strike in once} == set(Fault)
    assert sum(strike.after for strike in once) < 60
    assert max(strike.seconds for strike in once) > 3


def test_ticks_are_counted_from_the_schedule_alone() -> None:
    def seconds(until: float, **given: object) -> list[float]:
        plan = Plan(job_id=JOB, **given)  # type: ignore[arg-type]
        found = ticks_of(plan, after=NOON, until=NOON + until * SECOND)
        return [(tick - NOON) / SECOND for tick in found]

    assert seconds(3, cron_step=1) == [1, 2, 3]
    assert seconds(61, cron_step=20) == [20, 40, 60]
    assert seconds(3.9, anchor=NOON, every=1.5 * SECOND) == [1.5, 3]
    assert seconds(9, anchor=NOON + 4 * SECOND) == [4]
    assert seconds(9) == []
