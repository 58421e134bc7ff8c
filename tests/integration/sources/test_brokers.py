"""What brokers remember for Rota is what was committed, and nothing else (S7)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import nats
import pytest
from confluent_kafka import Consumer, TopicPartition
from redis.asyncio import Redis
from tests.support.event_places import JetStream, Place, Stream, Topic
from tests.support.shop import until

from rota.core.source import EMPTY_BATCH, Batch, Source
from rota.processes.event_sources import find_factory, find_kinds

SOON = timedelta(milliseconds=100)


@asynccontextmanager
async def reading(place: Place, **options: Any) -> AsyncIterator[Source]:
    make = find_factory(place.kind, find_kinds(), path="sources.x")
    source = make({**place.options(), **options})
    try:
        await source.open(None)
        yield source
    finally:
        await source.close()


async def next_batch(source: Source) -> Batch:
    batch = EMPTY_BATCH
    async with asyncio.timeout(20):
        while batch == EMPTY_BATCH:
            batch = await source.read(limit=10, within=SOON)
    return batch


def committed(topic: Topic) -> int:
    """How far the group is, as any tool of Kafka sees it."""
    consumer = Consumer({"bootstrap.servers": topic.kafka.servers, "group.id": topic.name})
    try:
        places = [TopicPartition(topic.name, number) for number in range(4)]
        return sum(max(0, each.offset) for each in consumer.committed(places, timeout=10))
    finally:
        consumer.close()


async def pending(stream: Stream) -> int:
    async with Redis.from_url(stream.redis.url) as client:
        return int((await client.xpending(stream.name, "rota"))["pending"])


async def test_kafka_hears_of_an_offset_when_it_is_acknowledged_and_not_before(
    topic: Topic,
) -> None:
    await topic.put("a", "b", "c")

    async with reading(topic) as source:
        batch = await next_batch(source)
        before = committed(topic)
        await source.acknowledge(batch.position or "")
        after = committed(topic)

    assert (before, after) == (0, len(batch.messages))


async def test_a_record_is_known_by_topic_partition_and_offset_and_its_key_is_the_subject(
    topic: Topic,
) -> None:
    await topic.put("a")

    async with reading(topic) as source:
        (message,) = (await next_batch(source)).messages

    name, partition, offset = message.id.split("/")
    assert (name, int(offset), message.subject) == (topic.name, 0, "k")
    assert 0 <= int(partition) < 4
    assert message.time is not None


@pytest.mark.parametrize("place", ["kafka", "redis_streams", "nats"], indirect=True)
async def test_who_begins_with_the_latest_gets_what_comes_after_the_first_start(
    place: Place,
) -> None:
    await place.put("old")

    async with reading(place, begin="latest") as source:
        nothing = await source.read(limit=10, within=SOON)
    await place.put("while nobody read")
    async with reading(place, begin="latest") as source:
        batch = await next_batch(source)

    assert nothing == EMPTY_BATCH
    assert [message.body for message in batch.messages] == [b"while nobody read"]


async def test_what_another_consumer_of_the_group_left_lying_is_claimed(stream: Stream) -> None:
    await stream.put("a", "b")
    async with Redis.from_url(stream.redis.url) as client:
        await client.xgroup_create(stream.name, "rota", id="0")
        await client.xreadgroup("rota", "dead", {stream.name: ">"}, count=1)
        # As if that had been two minutes ago.
        entries: Any = await client.xrange(stream.name, count=1)
        await client.xclaim(stream.name, "rota", "dead", 0, [entries[0][0]], idle=120_000)

        async with reading(stream) as source:
            first = await next_batch(source)
            await source.acknowledge(first.position or "")
            second = await next_batch(source)
            await source.acknowledge(second.position or "")

    assert [each.body for each in (*first.messages, *second.messages)] == [b"a", b"b"]
    assert await pending(stream) == 0


async def test_entries_are_acknowledged_and_deleted_only_once_they_are_taken(
    stream: Stream,
) -> None:
    await stream.put("a", "b")
    async with (
        Redis.from_url(stream.redis.url) as client,
        reading(stream, after="delete") as source,
    ):
        batch = await next_batch(source)
        before = (await pending(stream), await client.xlen(stream.name))
        await source.acknowledge(batch.position or "")
        after = (await pending(stream), await client.xlen(stream.name))

    assert (before, after) == ((2, 2), (0, 0))


async def test_an_entry_that_was_trimmed_before_it_was_acknowledged_does_not_stop_the_rest(
    stream: Stream,
) -> None:
    await stream.put("a", "b")
    async with reading(stream) as source:
        await next_batch(source)
    async with Redis.from_url(stream.redis.url) as client:
        await client.xtrim(stream.name, maxlen=0)
    await stream.put("c")

    async with reading(stream) as source:
        batch = await next_batch(source)

    assert [message.body for message in batch.messages] == [b"c"]
    assert await pending(stream) == 1


async def test_fields_are_the_data_of_an_entry_that_has_no_field_of_that_name(
    stream: Stream,
) -> None:
    async with Redis.from_url(stream.redis.url) as client:
        await client.xadd(stream.name, {"order": "7", "kind": "order.paid"})

    async with reading(stream, type_field="kind") as source:
        (message,) = (await next_batch(source)).messages

    assert message.body == {"order": "7", "kind": "order.paid"}
    assert message.type == "order.paid"


async def test_a_consumer_that_somebody_else_set_up_is_used_as_it_is(
    jet_stream: JetStream,
) -> None:
    client = await nats.connect(jet_stream.nats.url)
    stream = client.jetstream()
    await stream.pull_subscribe(f"{jet_stream.name}.wanted", "theirs", stream=jet_stream.name)
    for subject in ("other", "wanted"):
        await stream.publish(f"{jet_stream.name}.{subject}", subject.encode())

    async with reading(jet_stream, durable="theirs") as source:
        batch = await next_batch(source)
        await source.acknowledge(batch.position or "")

    async def is_acknowledged() -> bool:
        # An acknowledgement is not answered: another connection may be quicker.
        told = await stream.consumer_info(jet_stream.name, "theirs")
        return bool(told.num_ack_pending == 0)

    await until(is_acknowledged)
    await client.close()

    assert [message.body for message in batch.messages] == [b"wanted"]


async def test_a_stream_that_nats_does_not_have_is_an_error(jet_stream: JetStream) -> None:
    with pytest.raises(nats.js.errors.NotFoundError):
        async with reading(jet_stream, stream="nowhere"):
            pass


async def test_answers_of_nats_that_come_late_do_not_make_a_batch_larger_than_asked_for(
    jet_stream: JetStream,
) -> None:
    await jet_stream.put("a", "b", "c")
    async with reading(jet_stream, ack_wait="60s") as source:
        with jet_stream.nats.frozen():
            for _ in range(2):
                assert await source.read(limit=2, within=SOON) == EMPTY_BATCH
        await until(lambda: has_given_out(jet_stream, 3))

        batches: list[Batch] = []
        while sum(len(batch.messages) for batch in batches) < 3:
            batches.append(await source.read(limit=2, within=SOON))
            if batches[-1].position is not None:
                await source.acknowledge(batches[-1].position)

    assert max(len(batch.messages) for batch in batches) <= 2
    assert sorted(each.body for batch in batches for each in batch.messages) == [b"a", b"b", b"c"]


async def has_given_out(place: JetStream, count: int) -> bool:
    """Whether the server has given out so many messages that nobody has acknowledged."""
    client = await nats.connect(place.nats.url)
    try:
        found = await client.jetstream().consumer_info(place.name, "rota")
        return bool(found.num_ack_pending == count)
    finally:
        await client.close()
