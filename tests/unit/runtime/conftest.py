"""A ground to stand on: moved time, seeded luck, a list instead of an observer."""

from datetime import UTC, datetime
from random import Random

import pytest
from tests.support.moved_clock import MovedClock

from rota.runtime.service import ServiceContext
from rota.runtime.watchdog import Watchdog

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock(START)


@pytest.fixture
def heard() -> list[object]:
    return []


@pytest.fixture
def ground(clock: MovedClock, heard: list[object]) -> ServiceContext:
    # The watchdog is not entered: it takes note of what to watch, and no thread runs.
    return ServiceContext(clock=clock, emit=heard.append, rng=Random(7), watchdog=Watchdog())
