"""Hostile and broken expressions: a typed error or an answer, and both soon (S4; F11)."""

from datetime import UTC, datetime
from random import Random
from time import process_time

import pytest
from tests.property.time import cases
from tests.property.time.cases import Taste

from rota.core.errors import InvalidSchedule
from rota.core.time import cron, zones
from rota.core.time.cron import DayMatch

PIECES = [*"0123456789*/-,#?LWH()@= ", "MON", "FEB", "CRON_TZ=", "UTC", "31", "99", "\t", "é", "H("]
START = datetime(2026, 1, 1, tzinfo=UTC)
# Processor time, so that a busy machine does not fail it; the slowest seen takes a tenth.
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


@pytest.mark.parametrize("shard", range(4))
def test_any_text_is_read_and_answered_or_refused_soon(shard: int) -> None:
    chance = Random(f"fuzz {shard}")
    zone = zones.zone(chance.choice(cases.moving_zones()))
    slow, accepted = [], 0

    for _ in range(12_000):
        text = broken(chance)
        began = process_time()
        try:
            expression = cron.parse(text, day_match=chance.choice(list(DayMatch)))
        except InvalidSchedule as refused:
            assert refused.field in ("cron", "timezone")
            assert str(refused)
        else:
            accepted += 1
            cron.next_tick(expression, zone, START)
            assert expression.describe()
        if process_time() - began > LONGEST:
            slow.append(text)

    assert slow == []
    assert accepted > 1_000
