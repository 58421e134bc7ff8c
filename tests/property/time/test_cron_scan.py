"""Rota against the scanner that looks at every minute or second (S4, S9; F08).

One window of wall time serves many expressions, and one list of scanned ticks many starts; a case
is one expression, zone, pair of rules and start.
"""

import os
from datetime import UTC, date, datetime, time, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest
from tests.property.time import cases
from tests.property.time.cases import Taste
from tests.property.time.oracle import MINUTE, SECOND, Expression, Wall, first_after, transitions

from rota.core.errors import InvalidSchedule
from rota.core.time import cron
from rota.core.time.cron import Cron, DayMatch
from rota.core.time.tick import DstGap, DstOverlap

EPSILON = timedelta(microseconds=1)

# 16,000 expressions with a zone in `make test`, and 200,000 in `make test-time`.
WINDOWS = 125 if "ROTA_TEST_TIME" in os.environ else 10


class Window:
    """What a zone's wall shows around an instant, padded so that nothing bends at its ends."""

    def __init__(self, zone: ZoneInfo, middle: datetime, reach: timedelta, step: timedelta) -> None:
        self.zone = zone
        jump = dict(transitions(zone)).get(middle, timedelta(0))
        pad = abs(jump) + timedelta(hours=1)
        self.start, self.end = middle - reach, middle + reach
        self.wall = Wall(zone, self.start - pad, self.end + pad, step)

    def starts(self, chance: Random, ticks: list[datetime], count: int) -> list[datetime]:
        """Random starts, and starts on, right before and right after a tick."""
        inside = [tick for tick in ticks if self.start < tick < self.end]
        whole = (self.end - self.start) / SECOND
        starts = [self.start + SECOND * chance.uniform(0, whole) for _ in range(count)]
        for tick in chance.sample(inside, min(len(inside), count // 3)):
            starts += [tick, tick - EPSILON, tick - SECOND]
        return starts


def parsed(text: str, day_match: DayMatch) -> Cron | None:
    """The expression, or None where no date matches it."""
    try:
        return cron.parse_cron(text, day_match=day_match)
    except InvalidSchedule as refused:
        assert "never fire" in refused.wanted, text
        return None


def wrong_answers(window: Window, text: str, chance: Random, starts: int) -> list[str]:
    day_match = chance.choice([DayMatch.ANY, DayMatch.ANY, DayMatch.ALL])
    gap, overlap = chance.choice(list(DstGap)), chance.choice(list(DstOverlap))
    expression = parsed(text, day_match)
    if expression is None:
        return []
    ticks = window.wall.ticks(Expression(text, day_match=day_match), gap, overlap)
    wrong = []
    for start in window.starts(chance, ticks, starts):
        tick = cron.find_next_tick(expression, window.zone, start, gap=gap, overlap=overlap)
        ours, theirs = tick.at if tick else None, first_after(ticks, start)
        ours = ours if ours and ours < window.end else None
        theirs = theirs if theirs and theirs < window.end else None
        if ours != theirs:
            where = f"{text!r} {day_match} {gap} {overlap} {window.zone.key} after {start}"
            wrong.append(f"{where}: {ours}, scanned {theirs}")
    return wrong


def some_change(chance: Random, zone: ZoneInfo) -> datetime:
    changes = transitions(zone)
    if changes and chance.random() < 0.85:
        return chance.choice(changes)[0]
    return cases.any_start(chance).replace(second=0)


@pytest.mark.parametrize("shard", range(16))
def test_the_next_tick_is_what_a_look_at_every_minute_finds(shard: int) -> None:
    """Sixteen shards of windows with 100 expressions each."""
    chance = Random(f"minutes {shard}")
    wrong = []

    for _ in range(WINDOWS):
        zone = cases.zone(chance.choice(cases.moving_zones()))
        middle = some_change(chance, zone)
        window = Window(zone, middle, timedelta(hours=20), MINUTE)
        taste = Taste(hours=cases.local_hours(zone, middle), days=0.2)
        for _ in range(100):
            wrong += wrong_answers(window, cases.expression(chance, taste), chance, starts=3)

    assert wrong == []


@pytest.mark.parametrize("shard", range(2))
def test_the_next_tick_is_what_a_look_at_every_second_finds(shard: int) -> None:
    chance = Random(f"seconds {shard}")
    wrong = []

    for _ in range(20):
        # The one zone left out jumps a whole day: too many seconds to look at.
        zone = cases.zone(chance.choice([z for z in cases.moving_zones() if "Apia" not in z]))
        middle = some_change(chance, zone)
        window = Window(zone, middle, timedelta(minutes=90), SECOND)
        taste = Taste(hours=cases.local_hours(zone, middle), days=0.1, seconds=True)
        for _ in range(6):
            wrong += wrong_answers(window, cases.expression(chance, taste), chance, starts=30)

    assert wrong == []


def test_what_is_refused_for_never_firing_names_no_day() -> None:
    chance = Random("never")
    # Twenty-eight years hold every calendar there is.
    days = [date(2000, 1, 1) + timedelta(days=i) for i in range(28 * 365 + 7)]
    refused: list[str] = []

    while len(refused) < 30:
        text = cases.expression(chance, Taste(days=0.9))
        if parsed(text, DayMatch.ALL) is None:
            refused.append(text)

    for text in refused:
        naming = Expression(text, day_match="all")
        assert not any(naming.names_day(day) for day in days), text


@pytest.mark.parametrize("shard", range(4))
def test_the_next_day_is_what_a_look_at_every_day_finds(shard: int) -> None:
    chance = Random(f"days {shard}")
    wrong = []

    for _ in range(60):
        day_match = chance.choice([DayMatch.ANY, DayMatch.ALL])
        at = time(chance.randrange(24), chance.randrange(60))
        fields = cases.expression(chance, Taste(days=0.8)).split()[2:]
        text = f"{at.minute} {at.hour} {' '.join(fields)}"
        expression = parsed(text, day_match)
        if expression is None:
            continue
        naming = Expression(text, day_match=day_match)
        first = cases.any_start(chance).date()
        days = [first + timedelta(days=i) for i in range(4000)]
        named = [utc(day, at) for day in days if naming.names_day(day)]
        for _ in range(40):
            start = utc(first, at) + timedelta(days=chance.uniform(0, 2000))
            tick = cron.find_next_tick(expression, cases.zone("UTC"), start)
            ours, theirs = tick.at if tick else None, first_after(named, start)
            if ours != theirs and (theirs or (ours and ours < utc(days[-1], at))):
                wrong.append(f"{text!r} {day_match} after {start}: {ours}, scanned {theirs}")

    assert wrong == []


def utc(day: date, at: time) -> datetime:
    return datetime.combine(day, at, tzinfo=UTC)
