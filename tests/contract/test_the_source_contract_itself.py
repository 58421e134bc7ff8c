"""The public suite for sources notices what it is there to notice: every promise is broken once."""

# ruff: noqa: ARG002 - whoever breaks a promise does not look at what he was given

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from rota.core.errors import InvalidInput
from rota.core.source import EMPTY_BATCH, Batch, Message
from rota.sdk.testing.source_contract import SourceContract


@dataclass
class Shelf:
    """A place with events, which remembers how far it was read."""

    texts: list[str] = field(default_factory=list)
    taken: int = 0
    reads: int = 0
    given: set[int] = field(default_factory=set)
    acknowledged: set[int] = field(default_factory=set)


class Honest:
    """Keeps every promise; its children here break one each."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        if set(options) != {"shelf"}:
            raise InvalidInput("shelf", options, "a shelf and nothing else")
        self.shelf: Shelf = options["shelf"]
        self.next = 0

    async def open(self, position: str | None) -> None:
        self.next = self.shelf.taken

    async def read(self, *, limit: int, within: timedelta) -> Batch:
        if self.next >= len(self.shelf.texts):
            await asyncio.wait(
                [asyncio.get_running_loop().create_future()], timeout=within.total_seconds()
            )
        return self.found(limit)

    def found(self, most: int) -> Batch:
        self.shelf.reads += 1
        texts = self.shelf.texts[self.next : self.next + most]
        if not texts:
            return EMPTY_BATCH
        first, self.next = self.next, self.next + len(texts)
        numbered = enumerate(texts, first)
        messages = [Message(id=self.id_of(number, text), body=text) for number, text in numbered]
        return Batch(messages=messages, position=str(self.next))

    def id_of(self, number: int, text: str) -> str:
        return str(number)

    async def acknowledge(self, position: str) -> None:
        self.shelf.taken = int(position)

    async def lag(self) -> int | None:
        return len(self.shelf.texts) - self.shelf.taken

    async def close(self) -> None:
        pass


class Credulous(Honest):
    def __init__(self, options: Any) -> None:
        super().__init__({"shelf": (options or {}).get("shelf")})


class Confusing(Honest):
    def id_of(self, number: int, text: str) -> str:
        return text


class Fickle(Honest):
    def id_of(self, number: int, text: str) -> str:
        return f"{number} in read {self.shelf.reads}"


class Greedy(Honest):
    def found(self, most: int) -> Batch:
        return super().found(100)


class Hasty(Honest):
    """Forgets what it has handed out."""

    def found(self, most: int) -> Batch:
        batch = super().found(most)
        self.shelf.taken = self.next
        return batch


class Oblivious(Honest):
    async def acknowledge(self, position: str) -> None:
        pass


class Sleepless(Honest):
    async def read(self, *, limit: int, within: timedelta) -> Batch:
        if self.next >= len(self.shelf.texts):
            await asyncio.Event().wait()
        return self.found(limit)


class Blocking(Honest):
    async def read(self, *, limit: int, within: timedelta) -> Batch:
        threading.Event().wait(within.total_seconds())
        return self.found(limit)


class Blind(Honest):
    """Sees what was there when it was opened."""

    async def open(self, position: str | None) -> None:
        await super().open(position)
        self.shelf = Shelf(list(self.shelf.texts), self.shelf.taken)


class Verbose(Honest):
    def found(self, most: int) -> Batch:
        batch = super().found(most)
        return batch if not batch.messages else Batch(messages=batch.messages, position="x" * 10**5)


class Negative(Honest):
    async def lag(self) -> int | None:
        return -1


class Littering(Honest):
    async def open(self, position: str | None) -> None:
        await super().open(position)
        self.task = asyncio.create_task(asyncio.Event().wait())


class Redelivering(Honest):
    """As a broker that redelivers after a delay, on a slow machine: one event for each read, those
    that nobody was given first, and each of the others twice.
    """

    repeats = 2

    def found(self, most: int) -> Batch:
        left = [n for n in range(len(self.shelf.texts)) if n not in self.shelf.acknowledged]
        fresh = [n for n in left if n not in self.shelf.given]
        if not left:
            return EMPTY_BATCH
        number = (fresh or left)[0]
        if not fresh:
            self.repeats -= 1
        self.shelf.given.add(number)
        message = Message(id=str(number), body=self.shelf.texts[number])
        return Batch(messages=[message], position=str(number))

    async def acknowledge(self, position: str) -> None:
        if int(position) != 0 or self.repeats < 1:
            self.shelf.acknowledged.add(int(position))


class TestHonest(SourceContract):
    bad_options = ({}, {"shelf": Shelf(), "other": 1})
    PATIENCE = timedelta(milliseconds=300)
    kind: type[Honest] = Honest

    @pytest.fixture(autouse=True)
    def _shelf(self) -> None:
        self.shelf = Shelf()

    def make(self, options: Mapping[str, Any]) -> Honest:
        return self.kind(options)

    def options(self) -> dict[str, Any]:
        return {"shelf": self.shelf}

    async def put(self, *texts: str) -> None:
        self.shelf.texts += texts


@pytest.mark.parametrize(
    ("broken", "test"),
    [
        (Credulous, "test_every_bad_option_is_refused_with_field_and_wish"),
        (Confusing, "test_every_event_is_read_once_and_has_an_id_of_its_own"),
        (Sleepless, "test_an_empty_place_has_nothing_and_does_not_wait_for_ever"),
        (Blind, "test_what_comes_later_is_read_later"),
        (Greedy, "test_no_more_is_read_than_was_asked_for"),
        (Verbose, "test_positions_are_short_texts"),
        (Negative, "test_lag_is_a_number_or_unknown"),
        (Hasty, "test_what_was_not_acknowledged_is_read_again_with_the_same_ids"),
        (Fickle, "test_what_was_not_acknowledged_is_read_again_with_the_same_ids"),
        (Oblivious, "test_what_was_acknowledged_is_not_read_again"),
        (Hasty, "test_what_was_read_before_an_unfinished_batch_stays_read"),
        (Blocking, "test_a_source_that_waits_leaves_the_loop_to_others"),
        (Littering, "test_it_closes_without_having_been_opened_and_twice"),
    ],
)
async def test_a_broken_promise_is_noticed(broken: type[Honest], test: str) -> None:
    suite = TestHonest()
    suite.kind, suite.shelf = broken, Shelf()

    with pytest.raises((AssertionError, pytest.fail.Exception, TimeoutError)):
        await getattr(suite, test)()

    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()


async def test_something_else_than_a_source_is_noticed() -> None:
    suite = TestHonest()
    suite.kind, suite.shelf = lambda _options: object(), Shelf()  # type: ignore[assignment]

    with pytest.raises(AssertionError):
        await suite.test_it_is_a_source()


async def test_a_source_that_redelivers_late_and_twice_keeps_the_promise() -> None:
    suite = TestHonest()
    suite.kind, suite.shelf = Redelivering, Shelf()

    await suite.test_what_was_not_acknowledged_is_read_again_with_the_same_ids()
