"""Sinks publish Rota's events to real brokers, and move their position after the broker answers."""

import json
from collections.abc import Callable
from random import Random
from typing import Any
from uuid import uuid4

import nats
import pytest
import redis.asyncio
from confluent_kafka import Consumer
from tests.support.brokers import Kafka, Nats, Redis
from tests.support.relaying import build_relay, insert_ended
from tests.support.standing import Standing, WorldClock
from tests.support.world import World

from rota.config.settings import Settings
from rota.config.sinks import SinkSettings
from rota.contract.cloudevents import read_structured
from rota.core.errors import InvalidSetting
from rota.core.log_events import SinkFailed
from rota.core.sink import Sink
from rota.engine.relay.sink_publisher import ConfiguredSink, SinkPublisher
from rota.processes.sinks import read_sinks
from rota.sources.kafka import sink as kafka_sink
from rota.sources.nats import sink as nats_sink
from rota.sources.redis_streams import sink as redis_sink
from rota.store import relays


def build_publisher(
    world: World, build_sink: Callable[[], Sink], *, events: tuple[str, ...] = ("*",)
) -> tuple[SinkPublisher, list[Any]]:
    emitted: list[Any] = []
    publisher = SinkPublisher(
        configured=ConfiguredSink(
            name="out", kind="test", tenants=("default",), events=events, build_sink=build_sink
        ),
        source=Standing(world.conn),
        clock=WorldClock(world),
        rng=Random(1),
        emit=emitted.append,
        owner=world.new_id(),
        holder="test",
    )
    return publisher, emitted


async def read_position(world: World) -> relays.RelayPosition:
    position = await relays.read_relay_position(world.conn, "sink:out")
    assert position is not None
    return position


async def read_stream(server: Redis, stream: str) -> list[dict[bytes, bytes]]:
    client: Any = redis.asyncio.Redis.from_url(server.url)
    entries = await client.xrange(stream)
    await client.aclose()
    return [fields for _, fields in entries]


async def publish_two(world: World, build_sink: Callable[[], Sink]) -> list[str]:
    """Publish a failed and a successful run, then the same again as after a crash."""
    publisher, emitted = build_publisher(world, build_sink)
    await publisher.tick()
    await insert_ended(world, "dead")
    await insert_ended(world, "succeeded")
    await publisher.tick()
    await publisher.tick()
    assert not [event for event in emitted if isinstance(event, SinkFailed)]
    assert (await read_position(world)).events == 2
    await publisher.release()
    rows = await world.conn.fetch("select id from rota.runs order by state desc")
    return [f"run_{row[0].hex}" for row in rows]


def check_cloudevents(bodies: list[bytes], run_ids: list[str]) -> None:
    events = [read_structured(json.loads(body)) for body in bodies]
    assert sorted(event.type for event in events) == ["rota.run.failed", "rota.run.succeeded"]
    data: list[Any] = [event.data for event in events]
    assert {each["run_id"] for each in data} == set(run_ids)
    assert {event.source for event in events} == {"/rota/default"}


async def test_redis_gets_entries_that_its_source_can_read(
    world: World, redis_server: Redis
) -> None:
    stream = f"out-{uuid4().hex}"
    options = {"url": redis_server.url, "stream": stream}
    run_ids = await publish_two(world, lambda: redis_sink.make(options))
    entries = await read_stream(redis_server, stream)

    check_cloudevents([fields[b"data"] for fields in entries], run_ids)
    assert sorted(fields[b"type"] for fields in entries) == [b"run.failed", b"run.succeeded"]


async def test_nats_drops_an_event_that_is_published_again(world: World, nats_server: Nats) -> None:
    prefix = f"out{uuid4().hex}"
    client = await nats.connect(nats_server.url)
    context = client.jetstream()
    await context.add_stream(name=prefix, subjects=[f"{prefix}.>"])
    options = {"servers": [nats_server.url], "subject": prefix}
    run_ids = await publish_two(world, lambda: nats_sink.make(options))
    # As after a crash before the position was moved.
    await world.conn.execute("update rota.relays set since = since - interval '1 minute'")
    publisher, _ = build_publisher(world, lambda: nats_sink.make(options))
    while await publisher.tick() == 0:
        pass
    await publisher.release()
    subscription = await context.pull_subscribe(f"{prefix}.>", durable="reader")
    messages = await subscription.fetch(2, timeout=10)
    info = await context.stream_info(prefix)
    await client.close()

    assert info.state.messages == 2
    check_cloudevents([message.data for message in messages], run_ids)
    assert {message.subject for message in messages} == {
        f"{prefix}.run.failed",
        f"{prefix}.run.succeeded",
    }


async def test_kafka_gets_records_with_the_job_as_key(world: World, kafka_cluster: Kafka) -> None:
    topic = f"out-{uuid4().hex}"
    options = {"servers": kafka_cluster.servers, "topic": topic}
    run_ids = await publish_two(world, lambda: kafka_sink.make(options))
    consumer = Consumer(
        {
            "bootstrap.servers": kafka_cluster.servers,
            "group.id": "reader",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([topic])
    records: list[Any] = []
    for _ in range(100):
        records += [record for record in consumer.consume(10, 0.2) if record.error() is None]
        if len(records) == 2:
            break
    consumer.close()

    check_cloudevents([record.value() for record in records], run_ids)
    assert all(record.key().startswith(b"job_") for record in records)


async def test_a_sink_that_is_down_keeps_its_position_and_loses_nothing(
    world: World, redis_server: Redis
) -> None:
    stream = f"out-{uuid4().hex}"
    options = {"url": "unix:///nowhere/at:all", "stream": stream}
    publisher, emitted = build_publisher(world, lambda: redis_sink.make(options))
    await publisher.tick()
    await insert_ended(world, "dead")
    for _ in range(5):
        assert await publisher.tick() > 0
        await world.advance(seconds=60)
    failures = [event for event in emitted if isinstance(event, SinkFailed)]
    assert len(failures) == 5
    assert (await read_position(world)).events == 0
    lags = await relays.read_relay_lags(world.conn)
    assert lags["sink:out"].total_seconds() >= 300
    options["url"] = redis_server.url
    while await publisher.tick() == 0:
        pass
    await publisher.release()
    assert len(await read_stream(redis_server, stream)) == 1
    assert (await read_position(world)).events >= 1


async def test_only_the_wanted_types_are_read_and_published(
    world: World, redis_server: Redis
) -> None:
    stream = f"out-{uuid4().hex}"
    options = {"url": redis_server.url, "stream": stream}
    publisher, _ = build_publisher(world, lambda: redis_sink.make(options), events=("run.missed",))
    await publisher.tick()
    for state in ("dead", "succeeded", "missed"):
        await insert_ended(world, state)
    await publisher.tick()
    await publisher.release()
    entries = await read_stream(redis_server, stream)

    assert [fields[b"type"] for fields in entries] == [b"run.missed"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"options": {"stream": "s"}}, "sinks.out.options.url"),
        ({"options": {"url": "redis://x", "stream": "s", "maxlen": 3}}, "sinks.out.options.maxlen"),
        (
            {"options": {"url": "redis://x", "stream": "s", "max_length": 3}},
            "sinks.out.options.max_length",
        ),
        ({"events": ["run.exploded"], "options": {}}, "sinks.out.events"),
    ],
)
def test_invalid_settings_are_refused_with_their_field(changes: dict[str, Any], field: str) -> None:
    settings = Settings(sinks={"out": SinkSettings(kind="redis_streams", **changes)})

    with pytest.raises(InvalidSetting) as caught:
        read_sinks(settings, {})

    assert caught.value.field == field


async def test_a_sink_that_was_removed_has_no_lag_and_is_forgotten_later(
    world: World, redis_server: Redis
) -> None:
    options = {"url": redis_server.url, "stream": f"out-{uuid4().hex}"}
    publisher, _ = build_publisher(world, lambda: redis_sink.make(options))
    await publisher.tick()
    await publisher.release()
    assert "sink:out" in await relays.read_relay_lags(world.conn)
    await world.advance(hours=2)
    assert "sink:out" not in await relays.read_relay_lags(world.conn)
    assert (await read_position(world)).events == 0
    await world.advance(days=30)
    await build_relay(world).tick()

    assert await relays.read_relay_position(world.conn, "sink:out") is None
