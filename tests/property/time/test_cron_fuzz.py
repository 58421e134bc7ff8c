"""Hostile and broken expressions: a typed error or an answer, and both soon (S4; F11)."""

from datetime import UTC, datetime
from random import Random
from time import thread_time
from zoneinfo import ZoneInfo

import pytest
from tests.property.time import cases
from tests.property.time.cases import Taste

from rota.core.errors import InvalidSchedule
from rota.core.time import cron, zones
from rota.core.time.cron import DayMatch

PIECES = [*"0123456789*/-,#?LWH()@= ", "MON", "FEB", "CRON_TZ=", "UTC", "31", "99", "\t", "é", "H("]
START = datetime(2026, 1, 1, tzinfo=UTC)
# Processor time of this thread: a busy machine does not fail it. The slowest takes a tenth.
LONGEST = 0.050


def broken(chance: Random) -> str:
    """An expression with a few pieces put in, taken out or repeated."""
    text = list(cases.expression(chance, Taste(seconds=chance.random() < 0.3, days=0.6)))
    for _ in range(chance.randrange(4)):
        place = chance.randrange(len(text) + 1)
        match chance.randrange(3):
            case 0:
                text[place:place] = chance.choice(PIECES)
            case 1:
                del text[place : place + chance.randrange(1, 4)]
            case _:
                text[place:place] = text[place : place + 8] * chance.randrange(1, 30)
    return "".join(text)


def answered(text: str, day_match: DayMatch, zone: ZoneInfo) -> bool:
    """Read it and find its next tick; False if it is refused, with an error of ours."""
    try:
        expression = cron.parse_cron(text, day_match=day_match)
    except InvalidSchedule as refused:
        assert refused.field in ("cron", "timezone")
        assert str(refused)
        return False
    cron.find_next_tick(expression, zone, START)
    assert expression.describe()
    return True


def is_slow(text: str, day_match: DayMatch, zone: ZoneInfo) -> bool:
    """Three times in a row: a collection of garbage may fall into one."""
    for _ in range(3):
        began = thread_time()
        answered(text, day_match, zone)
        if thread_time() - began <= LONGEST:
            return False
    return True


@pytest.mark.parametrize("shard", range(4))
def test_any_text_is_read_and_answered_or_refused_soon(shard: int) -> None:
    chance = Random(f"fuzz {shard}")
    zone = zones.get_zone(chance.choice(cases.moving_zones()))
    slow, accepted = [], 0

    for _ in range(12_000):
        text, day_match = broken(chance), chance.choice(list(DayMatch))
        began = thread_time()
        accepted += answered(text, day_match, zone)
        if thread_time() - began > LONGEST and is_slow(text, day_match, zone):
            slow.append(text)

    assert slow == []
    assert accepted > 1_000
