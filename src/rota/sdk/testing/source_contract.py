"""The tests that every source of events must pass. Room: sdk/testing; needs pytest and
pytest-asyncio.

Subclass it in a file of tests, name the class `Test…` and say where events come from:

    class TestMine(SourceContract):
        bad_options = ({}, {"place": 7})

        def make(self, options):
            return my_package.make(options)

        def options(self):
            return {"place": self.place}

        async def put(self, *texts):
            for text in texts:
                self.place.add(text)

Every test begins with an empty place: give it a new one in a fixture. What is tested is what
rota.core.source promises; docs/howto/event-sources.md explains it.
"""

# ruff: noqa: S101 - these are tests, though they are shipped

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar

import pytest

from rota.core.errors import InvalidInput
from rota.core.source import LONGEST_POSITION, Batch, Message, Source

MOMENT = timedelta(milliseconds=50)


@pytest.mark.asyncio
class SourceContract:
    """See the module. All names in capitals are yours to override, too."""

    bad_options: Sequence[Any] = ()

    # How long the place may take to give again what nobody acknowledged.
    PATIENCE: ClassVar[timedelta] = timedelta(seconds=10)

    def make(self, options: Mapping[str, Any]) -> Source:
        raise NotImplementedError("make the source to test from its options")

    def options(self) -> dict[str, Any]:
        """Options of the place of this test; the same whenever they are asked for."""
        raise NotImplementedError("return good options")

    async def put(self, *texts: str) -> None:
        """Add one event for each text to the place, as another program would."""
        raise NotImplementedError("add events")

    # --- what it is made from

    async def test_it_is_a_source(self) -> None:
        assert isinstance(self.make(self.options()), Source)

    async def test_every_bad_option_is_refused_with_field_and_wish(self) -> None:
        assert self.bad_options, "say at least one table of options that is wrong"

        for options in [*self.bad_options, {**self.options(), "no such option": 1}]:
            with pytest.raises(InvalidInput) as refusal:
                self.make(options)

            assert refusal.value.field, options
            assert refusal.value.wanted, options

    # --- what it reads

    async def test_every_event_is_read_once_and_has_an_id_of_its_own(self) -> None:
        await self.put("a", "b", "b", "c")

        async with self._opened() as source:
            found, _ = await self._gather(source, 4)
            more = await source.read(most=10, within=MOMENT)

        assert len({message.id for message in found}) == 4
        assert all(message.id for message in found)
        assert not more.messages

    async def test_an_empty_place_has_nothing_and_does_not_wait_for_ever(self) -> None:
        async with self._opened() as source, asyncio.timeout(self.PATIENCE.total_seconds()):
            batch = await source.read(most=10, within=MOMENT)

        assert not batch.messages
        assert batch.position is None

    async def test_what_comes_later_is_read_later(self) -> None:
        async with self._opened() as source:
            await source.read(most=10, within=MOMENT)
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
        assert len(batch.position) <= LONGEST_POSITION

    async def test_lag_is_a_number_or_unknown(self) -> None:
        async with self._opened() as source:
            lag = await source.lag()

        assert lag is None or lag >= 0

    # --- what it remembers

    async def test_what_was_not_acknowledged_is_read_again_with_the_same_ids(self) -> None:
        await self.put("a", "b")
        async with self._opened() as source:
            first, _ = await self._gather(source, 2, acknowledge=False)

        async with self._opened() as source:
            again = await self._gather_again(source, ids(first))

        assert ids(first) <= again

    async def test_what_was_acknowledged_is_not_read_again(self) -> None:
        await self.put("a", "b")
        async with self._opened() as source:
            first, position = await self._gather(source, 2)

        await self.put("c")
        async with self._opened(position) as source:
            second, _ = await self._gather(source, 1)

        assert len(first) == 2
        assert len(second) == 1
        assert not ids(first) & ids(second)

    async def test_what_was_read_before_an_unfinished_batch_stays_read(self) -> None:
        await self.put("a", "b")
        async with self._opened() as source:
            batch = await self._batch(source, most=1)
            assert batch.position is not None
            await source.acknowledge(batch.position)
            lost = await self._batch(source, most=1)

        async with self._opened(batch.position) as source:
            again = await self._gather_again(source, ids(lost.messages))

        assert ids(lost.messages) <= again
        assert not ids(batch.messages) & again

    async def test_a_read_that_is_cancelled_loses_nothing(self) -> None:
        async with self._opened() as source:
            reading = asyncio.create_task(source.read(most=10, within=timedelta(seconds=1)))
            await asyncio.wait([reading], timeout=0.02)
            reading.cancel()
            await asyncio.wait([reading])
        await self.put("a")

        async with self._opened() as source:
            found, _ = await self._gather(source, 1)

        assert len(found) == 1

    # --- how it behaves

    async def test_a_source_that_waits_leaves_the_loop_to_others(self) -> None:
        async with self._opened() as source:
            # A machine that is busy may hold up one of them, a source that blocks all.
            turned = False
            for _ in range(3):
                turned = turned or await turns_while(source)

        assert turned, "what blocks belongs in a thread"

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
        """A process that reads, and is gone afterwards."""
        source = self.make(self.options())
        try:
            await source.open(position)
            yield source
        finally:
            await source.close()

    async def _batch(self, source: Source, *, most: int = 10) -> Batch:
        """The next batch with something in it."""
        async with asyncio.timeout(self.PATIENCE.total_seconds()):
            while not (batch := await source.read(most=most, within=MOMENT)).messages:
                if batch.position is not None:
                    await source.acknowledge(batch.position)
                await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=0.01)
        return batch

    async def _gather(
        self, source: Source, count: int, *, acknowledge: bool = True
    ) -> tuple[list[Message], str | None]:
        """So many messages, and the last position; without acknowledging, one batch of them."""
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
        """Read and acknowledge until all wanted ids have come; return every id that came.

        Counting messages would not do. A broker that redelivers after a delay gives new messages
        first, and on a slow machine it gives one message twice before it hears of the first.
        """
        found: set[str] = set()
        with contextlib.suppress(TimeoutError):
            while not wanted <= found:
                batch = await self._batch(source)
                found |= ids(batch.messages)
                assert batch.position is not None
                await source.acknowledge(batch.position)
        return found


async def turns_while(source: Source) -> bool:
    """Whether the loop turned while the source waited, or it did not wait at all."""
    loop, within = asyncio.get_running_loop(), timedelta(milliseconds=200)
    began, turns = loop.time(), 0
    reading = asyncio.create_task(source.read(most=1, within=within))
    while not reading.done():
        await asyncio.wait([reading], timeout=0.01)
        turns += 1
    return turns > 3 or loop.time() - began < within.total_seconds() / 2


def ids(messages: Sequence[Message]) -> set[str]:
    return {message.id for message in messages}
