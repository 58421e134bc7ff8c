"""Provides the tests that every event source must pass. Needs pytest and pytest-asyncio.

Subclass `SourceContract` in a test file, name the class `Test…` and define where events come from:

    class TestMine(SourceContract):
        bad_options = ({}, {"place": 7})

        def make(self, options):
            return my_package.make(options)

        def options(self):
            return {"place": self.place}

        async def put(self, *texts):
            for text in texts:
                self.place.add(text)

Every test starts with an empty place: create a new one in a fixture. The tests check the contract
of rota.core.source; docs/howto/event-sources.md explains it.
"""

# ruff: noqa: S101 - these are tests that are part of the package

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar

import pytest

from rota.core.errors import InvalidInput
from rota.core.source import POSITION_BYTES_MAX, Batch, Message, Source

READ_WAIT = timedelta(milliseconds=50)


@pytest.mark.asyncio
class SourceContract:
    """The contract of an event source. Subclasses may override the names in capitals too."""

    bad_options: Sequence[Any] = ()

    # The longest time that the place may take to redeliver unacknowledged events.
    PATIENCE: ClassVar[timedelta] = timedelta(seconds=10)

    def make(self, options: Mapping[str, Any]) -> Source:
        raise NotImplementedError("return the source to test, made from these options")

    def options(self) -> dict[str, Any]:
        """The options of this test's place; every call in a test returns the same."""
        raise NotImplementedError("return valid options")

    async def put(self, *texts: str) -> None:
        """Add one event for each text to the place, as another program would."""
        raise NotImplementedError("add one event for each text")

    # --- options

    async def test_it_is_a_source(self) -> None:
        assert isinstance(self.make(self.options()), Source)

    async def test_every_bad_option_is_refused_with_field_and_wish(self) -> None:
        assert self.bad_options, "set bad_options to at least one invalid table of options"

        for options in [*self.bad_options, {**self.options(), "no such option": 1}]:
            with pytest.raises(InvalidInput) as refusal:
                self.make(options)

            assert refusal.value.field, options
            assert refusal.value.wanted, options

    # --- reading

    async def test_every_event_is_read_once_and_has_an_id_of_its_own(self) -> None:
        await self.put("a", "b", "b", "c")

        async with self._opened() as source:
            found, _ = await self._gather(source, 4)
            more = await source.read(limit=10, within=READ_WAIT)

        assert len({message.id for message in found}) == 4
        assert all(message.id for message in found)
        assert not more.messages

    async def test_an_empty_place_has_nothing_and_does_not_wait_for_ever(self) -> None:
        async with self._opened() as source, asyncio.timeout(self.PATIENCE.total_seconds()):
            batch = await source.read(limit=10, within=READ_WAIT)

        assert not batch.messages
        assert batch.position is None

    async def test_what_comes_later_is_read_later(self) -> None:
        async with self._opened() as source:
            await source.read(limit=10, within=READ_WAIT)
            await self.put("later")

            found, _ = await self._gather(source, 1)

        assert len(found) == 1

    async def test_no_more_is_read_than_was_asked_for(self) -> None:
        await self.put("a", "b", "c")

        async with self._opened() as source:
            batch = await self._batch(source, most=2)

        assert len(batch.messages) <= 2

    async def test_positions_are_short_texts(self) -> None:
        await self.put("a")

        async with self._opened() as source:
            batch = await self._batch(source)

        assert isinstance(batch.position, str)
        assert len(batch.position) <= POSITION_BYTES_MAX

    async def test_lag_is_a_number_or_unknown(self) -> None:
        async with self._opened() as source:
            lag = await source.lag()

        assert lag is None or lag >= 0

    # --- acknowledging

    async def test_what_was_not_acknowledged_is_read_again_with_the_same_ids(self) -> None:
        await self.put("a", "b")
        async with self._opened() as source:
            first, _ = await self._gather(source, 2, acknowledge=False)

        async with self._opened() as source:
            again = await self._gather_again(source, message_ids(first))

        assert message_ids(first) <= again

    async def test_what_was_acknowledged_is_not_read_again(self) -> None:
        await self.put("a", "b")
        async with self._opened() as source:
            first, position = await self._gather(source, 2)

        await self.put("c")
        async with self._opened(position) as source:
            second, _ = await self._gather(source, 1)

        assert len(first) == 2
        assert len(second) == 1
        assert not message_ids(first) & message_ids(second)

    async def test_what_was_read_before_an_unfinished_batch_stays_read(self) -> None:
        await self.put("a", "b")
        async with self._opened() as source:
            batch = await self._batch(source, most=1)
            assert batch.position is not None
            await source.acknowledge(batch.position)
            lost = await self._batch(source, most=1)

        async with self._opened(batch.position) as source:
            again = await self._gather_again(source, message_ids(lost.messages))

        assert message_ids(lost.messages) <= again
        assert not message_ids(batch.messages) & again

    async def test_a_read_that_is_cancelled_loses_nothing(self) -> None:
        async with self._opened() as source:
            reading = asyncio.create_task(source.read(limit=10, within=timedelta(seconds=1)))
            await asyncio.wait([reading], timeout=0.02)
            reading.cancel()
            await asyncio.wait([reading])
        await self.put("a")

        async with self._opened() as source:
            found, _ = await self._gather(source, 1)

        assert len(found) == 1

    # --- blocking and closing

    async def test_a_source_that_waits_leaves_the_loop_to_others(self) -> None:
        async with self._opened() as source:
            # A busy machine may delay one of three reads; a blocking source delays all of them.
            turned = False
            for _ in range(3):
                turned = turned or await is_loop_free_while_reading(source)

        assert turned, "the source blocks the event loop; use a thread"

    async def test_it_closes_without_having_been_opened_and_twice(self) -> None:
        before = asyncio.all_tasks()
        unopened, source = self.make(self.options()), self.make(self.options())

        await unopened.close()
        await source.open(None)
        await source.close()
        await source.close()

        assert asyncio.all_tasks() <= before

    @contextlib.asynccontextmanager
    async def _opened(self, position: str | None = None) -> AsyncIterator[Source]:
        """Open a source as a new process would, and close it at the end."""
        source = self.make(self.options())
        try:
            await source.open(position)
            yield source
        finally:
            await source.close()

    async def _batch(self, source: Source, *, most: int = 10) -> Batch:
        """The next batch that is not empty."""
        async with asyncio.timeout(self.PATIENCE.total_seconds()):
            while not (batch := await source.read(limit=most, within=READ_WAIT)).messages:
                if batch.position is not None:
                    await source.acknowledge(batch.position)
                await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=0.01)
        return batch

    async def _gather(
        self, source: Source, count: int, *, acknowledge: bool = True
    ) -> tuple[list[Message], str | None]:
        """Read at least this many messages; return them and the last position. Reads only one batch
        if it does not acknowledge.
        """
        found: list[Message] = []
        position = None
        while len(found) < count:
            batch = await self._batch(source)
            found += batch.messages
            position = batch.position
            if not acknowledge:
                break
            assert position is not None
            await source.acknowledge(position)
        return found, position

    async def _gather_again(self, source: Source, wanted: set[str]) -> set[str]:
        """Read and acknowledge until all wanted ids have arrived; return every id that arrived.

        Counting messages would not suffice: a broker that redelivers after a delay delivers new
        messages first, and on a slow machine it may deliver a message twice before it receives the
        first acknowledgement.
        """
        found: set[str] = set()
        with contextlib.suppress(TimeoutError):
            while not wanted <= found:
                batch = await self._batch(source)
                found |= message_ids(batch.messages)
                assert batch.position is not None
                await source.acknowledge(batch.position)
        return found


async def is_loop_free_while_reading(source: Source) -> bool:
    """Whether the event loop ran while the source waited, or the source did not wait at all."""
    loop, within = asyncio.get_running_loop(), timedelta(milliseconds=200)
    began, turns = loop.time(), 0
    reading = asyncio.create_task(source.read(limit=1, within=within))
    while not reading.done():
        await asyncio.wait([reading], timeout=0.01)
        turns += 1
    return turns > 3 or loop.time() - began < within.total_seconds() / 2


def message_ids(messages: Sequence[Message]) -> set[str]:
    return {message.id for message in messages}
