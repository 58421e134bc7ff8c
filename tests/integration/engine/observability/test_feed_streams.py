"""Streams of the live feed: coming back to one, reading one too slowly, leaving one."""

from collections import Counter
from typing import Any

import pytest
from tests.support.feeding import news, types
from tests.support.standing import Standing
from tests.support.world import World

from rota.core.errors import InvalidInput
from rota.engine.observability import feed as observed
from rota.engine.observability.feed import FeedItem, LiveFeed


async def test_a_reader_who_comes_back_hears_what_it_missed_and_no_more(
    world: World, feed: LiveFeed
) -> None:
    async with feed.open(1) as first:
        await world.run()
        (last,) = await news(feed, first)
    missed = await world.run()
    await feed.tick()
    await world.advance(seconds=30)

    async with feed.open(1, after=last.id) as second:
        again = await second.next()
        await world.run()
        after = await types(feed, second)
        nothing = await types(feed, second)

    assert [event.run_id for event in again] == [missed]
    assert after == ["run.made"]
    assert nothing == []


async def test_a_reader_may_come_back_to_another_process(world: World, feed: LiveFeed) -> None:
    async with feed.open(1) as first:
        await world.run()
        (last,) = await news(feed, first)
    missed = await world.run()

    another = LiveFeed(Standing(world.conn))
    async with another.open(1, after=last.id) as second:
        again = await second.next()
        repeated = await types(another, second)

    assert [event.run_id for event in again] == [missed]
    assert repeated == []


async def test_a_reader_cut_off_between_two_events_hears_both_again(
    world: World, feed: LiveFeed
) -> None:
    async with feed.open(1) as first:
        made = await world.runs(2)
        events = await news(feed, first)

    async with feed.open(1, after=events[0].id) as again:
        assert {event.run_id for event in await again.next()} == set(made)
    async with feed.open(1, after=events[1].id) as not_again:
        assert await types(feed, not_again) == []


async def test_who_comes_back_after_too_long_is_told_that_something_may_be_missing(
    world: World, feed: LiveFeed
) -> None:
    async with feed.open(1) as first:
        await world.run()
        (last,) = await news(feed, first)
    await world.advance(minutes=5)

    async with feed.open(1, after=last.id) as second:
        (event,) = await second.next()

    assert (event.type, event.missed) == ("lagged", ())


async def test_an_id_of_another_database_is_answered_with_lagged(
    world: World, feed: LiveFeed
) -> None:
    since = int(world.now.timestamp() * 1000)
    async with feed.open(1, after=f"999999999999-{since}") as stream:
        (event,) = await stream.next()

    assert event.type == "lagged"


@pytest.mark.parametrize(
    "text",
    ["", "-", "7", "7-", "-7", "a-b", "1-2-3", "1 -2", "٣-٤", "9" * 30 + "-1", "1-" + "9" * 18],
)
async def test_an_id_that_is_none_is_refused(feed: LiveFeed, text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        async with feed.open(1, after=text):
            pass

    assert refused.value.field == "Last-Event-ID"


async def test_more_than_a_stream_takes_is_counted(world: World, feed: LiveFeed) -> None:
    async with feed.open(1) as stream:
        await world.runs(observed.EVENTS_PER_LOOK_MAX + 90)
        await world.job()
        events = await news(feed, stream)
        later = await news(feed, stream)

    told = {(event.type, event.run_id, event.job_id) for event in events}
    assert len(events) == observed.EVENTS_PER_LOOK_MAX + 1
    assert (events[-1].type, sum(n for _, n in events[-1].missed)) == ("lagged", 91)
    # While somebody else's transaction goes on, what was only counted may be told after all.
    assert told.isdisjoint((event.type, event.run_id, event.job_id) for event in later)


async def test_a_reader_that_sleeps_is_told_what_it_missed_and_goes_on(
    world: World, feed: LiveFeed
) -> None:
    async with feed.open(1) as slow, feed.open(1) as quick:
        heard: list[FeedItem] = []
        for _ in range(12):
            await world.advance(seconds=1)
            await world.runs(100)
            await feed.tick()
            heard += await quick.next()
            assert len(slow._waiting) <= observed.BUFFERED_EVENTS_MAX

        caught_up = await slow.next()
        await world.run()
        after = await types(feed, slow)

    assert Counter(event.type for event in heard) == {"run.made": 1200}
    assert Counter(event.type for event in caught_up) == {"run.made": 1000, "lagged": 1}
    assert caught_up[-1].missed == (("run.made", 200),)
    assert after == ["run.made"]


async def test_a_quiet_stream_is_told_where_it_stands(world: World, feed: LiveFeed) -> None:
    async with feed.open(1) as stream:
        first = await types(feed, stream)
        await world.advance(seconds=16)
        (quiet,) = await news(feed, stream)
        soon = await types(feed, stream)
    await world.advance(seconds=100)
    made = await world.run()

    async with feed.open(1, after=quiet.id) as again:
        (event,) = await again.next()

    assert (first, quiet.type, soon) == ([], "quiet", [])
    assert event.run_id == made


async def test_nobody_is_asked_while_no_stream_is_open(world: World) -> None:
    asked: list[str] = []

    class Counting(Standing):
        def acquire(self) -> Any:
            asked.append("asked")
            return super().acquire()

    feed = LiveFeed(Counting(world.conn))
    rest = await feed.tick()

    assert (asked, rest) == ([], observed.FEED_POLL_INTERVAL_S)


async def test_a_stream_that_is_closed_ends_for_its_reader(feed: LiveFeed) -> None:
    async with feed.open(1) as stream:
        feed.close()

        assert await stream.next() == []


async def test_a_reader_that_leaves_is_forgotten(world: World, feed: LiveFeed) -> None:
    with pytest.raises(RuntimeError):
        async with feed.open(1):
            raise RuntimeError("the client went away")

    await world.run()
    await feed.tick()
    assert feed._streams == []
    assert feed._position is None
