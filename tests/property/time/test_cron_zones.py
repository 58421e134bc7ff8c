"""Every zone of the wheel at its own changes of the clocks, under every rule (S9; F08).

Also that the spans, which are found by probing, have exactly the edges that the wheel's files list.
"""

import struct
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from itertools import islice, pairwise, product
from random import Random
from zoneinfo import ZoneInfo

import pytest
from tests.property.time import cases
from tests.property.time.oracle import MINUTE, Expression, Wall, transitions

from rota.core.time import cron, zones
from rota.core.time.tick import DstGap, DstOverlap, Tick

SHARDS = 8
RULES = list(product(DstGap, DstOverlap))
HALF = timedelta(hours=7)
DAY = timedelta(days=1)


def shapes(chance: Random, hours: tuple[int, ...]) -> list[str]:
    """Expressions that stand close to a change on the wall."""
    hour = chance.choice(hours)
    listed = ",".join(map(str, hours))
    return [
        f"{chance.randrange(60)} {hour} * * *",
        f"0,30 {listed} * * *",
        f"15,45 {hour} * * *",
        chance.choice(["0 */2 * * *", "0 */3 * * *", "*/20 * * * *", f"*/15 {hour} * * *"]),
    ]


def names(shard: int) -> list[str]:
    return cases.all_zones()[shard::SHARDS]


@pytest.mark.parametrize("shard", range(SHARDS))
def test_ticks_at_the_changes_of_every_zone_are_the_scanned_ones(shard: int) -> None:
    chance = Random(f"zones {shard}")
    wrong = []

    for name in names(shard):
        zone = zones.get_zone(name)
        changes = transitions(zone)
        for middle, jump in chance.sample(changes, min(len(changes), 3)):
            long = abs(jump) > timedelta(hours=3)
            half = HALF + DAY if long else HALF
            wall = Wall(zone, middle - half, middle + half, MINUTE)
            start, end = middle - half / 2, middle + half / 2
            for text in shapes(chance, cases.local_hours(zone, middle)):
                expression = Expression(text)
                for gap, overlap in chance.sample(RULES, 3):
                    scanned = wall.ticks(expression, gap, overlap)
                    expected = [tick for tick in scanned if start < tick <= end]
                    found = between(text, zone, start, end, gap, overlap)
                    if [tick.at for tick in found] != expected:
                        wrong.append(f"{text!r} {gap} {overlap} {name} {middle}")

    assert wrong == []


def between(
    text: str, zone: ZoneInfo, start: datetime, end: datetime, gap: DstGap, overlap: DstOverlap
) -> list[Tick]:
    """The ticks in a stretch, each also found from right before it, and strictly rising."""
    expression = cron.parse_cron(text)
    found: list[Tick] = []
    for tick in cron.iterate_ticks(expression, zone, start, gap=gap, overlap=overlap):
        assert not found or tick.at > found[-1].at
        if tick.at > end:
            return found
        before = tick.at - timedelta(microseconds=1)
        assert cron.find_next_tick(expression, zone, before, gap=gap, overlap=overlap) == tick
        found.append(tick)
    return found


@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_zone_maps_one_local_time_as_cron_does(shard: int) -> None:
    chance = Random(f"instants {shard}")

    for name in names(shard):
        zone = zones.get_zone(name)
        changes = transitions(zone)
        for (middle, _), (gap, overlap) in zip(
            chance.sample(changes, min(len(changes), 4)), chance.sample(RULES, 4), strict=False
        ):
            local = (middle + chance.uniform(-3, 3) * timedelta(hours=1)).astimezone(zone)
            minute = local.replace(tzinfo=None, second=0, microsecond=0, fold=0)
            text = f"0 {minute:%M %H %d %m} * {minute:%Y}"
            found = cron.iterate_ticks(
                cron.parse_cron(text), zone, middle - 4 * DAY, gap=gap, overlap=overlap
            )

            assert zones.resolve_local_time(minute, zone, gap=gap, overlap=overlap) == tuple(found)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_spans_have_the_edges_that_the_wheel_lists(shard: int) -> None:
    first, last = stamp(1970), stamp(2100)

    for name in names(shard):
        zone = zones.get_zone(name)
        listed = [at for at in listed_changes(name, zone) if first < at < last]
        # From the last listed change on a file gives a rule; the scanner finds what it comes to.
        probed = [int(at.timestamp()) for at, _ in transitions(zone)]

        found = [edge for edge in edges(zone, first, last) if edge > first]

        assert [edge for edge in found if edge <= max(listed, default=0)] == listed, name
        assert [edge for edge in found if stamp(2000) <= edge < stamp(2038)] == probed, name


def edges(zone: ZoneInfo, first: int, last: int) -> list[int]:
    found = []
    at = first
    while at < last:
        span = zones.span_at(zone, at)
        if span.before != span.offset and span.start == at:
            found.append(span.start)
        at = span.end
    return found


def stamp(year: int) -> int:
    return int(datetime(year, 1, 1, tzinfo=UTC).timestamp())


def listed_changes(name: str, zone: ZoneInfo) -> list[int]:
    """The transitions written out in a TZif file (RFC 9636) that change the offset."""
    data = files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()
    counts = struct.unpack(">6l", data[20:44])
    utc_flags, wall_flags, leaps, times, kinds, letters = counts
    second = 44 + times * 5 + kinds * 6 + letters + leaps * 8 + wall_flags + utc_flags
    count = struct.unpack(">6l", data[second + 20 : second + 44])[3]
    moments = struct.unpack(f">{count}q", data[second + 44 : second + 44 + 8 * count])
    return [at for at in moments if at > 0 and offset(zone, at) != offset(zone, at - 1)]


def offset(zone: ZoneInfo, at: int) -> timedelta | None:
    return datetime.fromtimestamp(at, zone).utcoffset()


def test_a_hundred_ticks_in_a_row_rise_strictly_in_every_zone() -> None:
    chance = Random("rising")

    for name in cases.all_zones():
        text = cases.expression(chance, cases.Taste(days=0.1))
        gap, overlap = chance.choice(RULES)
        start = cases.any_start(chance)
        found = cron.iterate_ticks(
            cron.parse_cron(text), zones.get_zone(name), start, gap=gap, overlap=overlap
        )
        instants = [start, *(tick.at for tick in islice(found, 100))]

        assert all(early < late for early, late in pairwise(instants)), text
