"""Real processes, real faults: schedulers and workers on a durable PostgreSQL are killed, frozen,
rolled and cut off while a client keeps them busy, and every promise holds (E1, E2, E3, E4, E7, E8,
E11, E12, E15, O2, O3, S11, S14). The long profile is `python -m tests.chaos`.
"""

from pathlib import Path

import pytest

from tests.chaos.arena import QUICK, SLOTS, Arena
from tests.chaos.nemesis import Fault

SEED = 20261116


@pytest.mark.timeout(400)
async def test_every_promise_holds_while_everything_is_killed_frozen_and_cut(
    tmp_path: Path,
) -> None:
    arena = Arena(folder=tmp_path, profile=QUICK, seed=SEED)

    verdict, struck = await arena.run()

    assert verdict.violated == frozenset(), f"seed {SEED}, see {tmp_path}\n{verdict}"
    assert {each.fault for each in struck} == set(Fault)
    # Only what was frozen may go on beside its successor.
    freezes = sum(each.fault is Fault.FREEZE for each in struck)
    assert verdict.zombies <= freezes * SLOTS
    # There was enough to break.
    assert verdict.ticks > QUICK.seconds * 10
    assert verdict.runs - verdict.ticks > QUICK.seconds
