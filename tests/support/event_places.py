"""Places that events come from, each as another program would fill it: what all tests of sources
share. A place is empty at first and its own for each test.
"""

import itertools
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import asyncpg
import nats
from redis.asyncio import Redis as RedisClient

from tests.support.brokers import Kafka, Nats, Redis

_numbers = itertools.count()


def fresh(word: str) -> str:
    return f"{word}_{os.getpid()}_{next(_numbers)}"


class Place(Protocol):
    @property
    def kind(self) -> str: ...
    def options(self) -> dict[str, Any]: ...
    async def put(self, *texts: str) -> None: ...


@dataclass(frozen=True)
class Folder:
    path: Path
    more: Mapping[str, Any] = field(default_factory=dict)
    kind = "folder"

    def options(self) -> dict[str, Any]:
        return {"path": str(self.path), "settle": "0s", **self.more}

    async def put(self, *texts: str) -> None:
        for text in texts:
            (self.path / ".new").write_text(text)
            (self.path / ".new").rename(self.path / fresh("file"))


@dataclass(frozen=True)
class Table:
    url: str
    more: Mapping[str, Any] = field(default_factory=dict)
    name: str = field(default_factory=lambda: fresh("outbox"))
    kind = "postgres_table"

    def options(self) -> dict[str, Any]:
        return {"url": self.url, "table": self.name, "data_column": "body", **self.more}

    async def make(self) -> "Table":
        await self.run(
            f"create table {self.name} (id bigint generated always as identity primary key, "
            "body text, kind text, at timestamptz default now(), taken_at timestamptz)"
        )
        return self

    async def put(self, *texts: str) -> None:
        for text in texts:
            await self.run(f"insert into {self.name} (body) values ($1)", text)

    async def run(self, statement: str, *values: Any) -> list[Any]:
        conn = await asyncpg.connect(self.url)
        try:
            return list(await conn.fetch(statement, *values))
        finally:
            await conn.close()


@dataclass(frozen=True)
class Topic:
    kafka: Kafka
    more: Mapping[str, Any] = field(default_factory=dict)
    name: str = field(default_factory=lambda: fresh("topic"))
    kind = "kafka"

    def options(self) -> dict[str, Any]:
        options = {"servers": self.kafka.servers, "topics": [self.name], "group": self.name}
        # The broker of the tests knows no other way to have a topic made.
        quick = {"fetch.wait.max.ms": 50, "log_level": 3}
        return {**options, "settings": quick, **self.more}

    async def put(self, *texts: str) -> None:
        for text in texts:
            self.kafka.producer.produce(self.name, text.encode(), key=b"k")
        assert self.kafka.producer.flush(10) == 0


@dataclass(frozen=True)
class Stream:
    redis: Redis
    more: Mapping[str, Any] = field(default_factory=dict)
    name: str = field(default_factory=lambda: fresh("stream"))
    kind = "redis_streams"

    def options(self) -> dict[str, Any]:
        return {"url": self.redis.url, "stream": self.name, **self.more}

    async def put(self, *texts: str) -> None:
        async with RedisClient.from_url(self.redis.url) as client:
            for text in texts:
                await client.xadd(self.name, {"data": text})


@dataclass(frozen=True)
class JetStream:
    nats: Nats
    more: Mapping[str, Any] = field(default_factory=dict)
    name: str = field(default_factory=lambda: fresh("stream"))
    kind = "nats"

    def options(self) -> dict[str, Any]:
        # It gives again what was not acknowledged after this, and not sooner than a second.
        options = {"servers": [self.nats.url], "stream": self.name, "ack_wait": "1s"}
        return {**options, **self.more}

    async def make(self) -> "JetStream":
        client = await nats.connect(self.nats.url)
        await client.jetstream().add_stream(name=self.name, subjects=[f"{self.name}.>"])
        await client.close()
        return self

    async def put(self, *texts: str) -> None:
        client = await nats.connect(self.nats.url)
        for text in texts:
            await client.jetstream().publish(f"{self.name}.new", text.encode())
        await client.close()
