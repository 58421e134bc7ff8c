"""A place of each kind, empty, for one test."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.brokers import Kafka, Nats, Redis, kafka, nats_in, redis_in
from tests.support.databases import create
from tests.support.event_places import Folder, JetStream, Place, Stream, Table, Topic

from rota.store.embedded import Embedded

KINDS = ("folder", "postgres_table", "kafka", "redis_streams", "nats")


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Redis]:
    with redis_in(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(scope="session")
def nats_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nats]:
    with nats_in(tmp_path_factory.mktemp("nats")) as server:
        yield server


@pytest.fixture(scope="session")
def kafka_cluster() -> Iterator[Kafka]:
    with kafka() as cluster:
        yield cluster


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    path = tmp_path / "in"
    path.mkdir()
    return Folder(path)


@pytest.fixture(scope="session")
def shop(server: Embedded) -> str:
    """The URL of a database that is not Rota's; each test has a table of its own in it."""
    return asyncio.run(create(server.url, f"shop_{os.getpid()}"))


@pytest.fixture
async def postgres_table(shop: str) -> Table:
    return await Table(shop).make()


@pytest.fixture
async def topic(kafka_cluster: Kafka) -> Topic:
    # The topic is there before anybody reads it.
    topic = Topic(kafka_cluster)
    kafka_cluster.producer.list_topics(topic.name, timeout=10)
    return topic


@pytest.fixture
def stream(redis_server: Redis) -> Stream:
    return Stream(redis_server)


@pytest.fixture
async def jet_stream(nats_server: Nats) -> JetStream:
    return await JetStream(nats_server).make()


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest) -> Place:
    """Each kind in turn."""
    fixtures = dict(
        zip(KINDS, ("folder", "postgres_table", "topic", "stream", "jet_stream"), strict=True)
    )
    found: Place = request.getfixturevalue(fixtures[request.param])
    return found
