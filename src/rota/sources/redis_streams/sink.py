"""Publishes events to a Redis stream with XADD.

An entry has the fields `id`, `type` and `data`, which is what the source of this kind reads. The
stream is trimmed to about `max_length` entries. Redis stores an entry when it answers; whether it
survives a crash of Redis depends on its `appendfsync`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rota.core.sink import SinkMessage
from rota.sources.options import SourceOptions, import_library

CALL_TIMEOUT_S: Final = 10.0
MAX_LENGTH_DEFAULT: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisSinkSpec:
    url: str = field(repr=False)
    stream: str
    max_length: int


def make(options: Mapping[str, Any]) -> "RedisSink":
    return RedisSink(read_options(options), import_library("redis.asyncio", extra="redis"))


def read_options(values: Mapping[str, Any]) -> RedisSinkSpec:
    options = SourceOptions(values)
    spec = RedisSinkSpec(
        url=options.read_text(
            "url", wanted="a URL such as redis://:${PASSWORD}@redis.example:6379/0", secret=True
        ),
        stream=options.read_text("stream", wanted="the key of a stream"),
        max_length=options.read_number(
            "max_length", MAX_LENGTH_DEFAULT, minimum=1_000, maximum=1_000_000_000
        ),
    )
    options.refuse_others()
    return spec


class RedisSink:
    """Publishes to a stream. `redis` is the module redis.asyncio."""

    def __init__(self, spec: RedisSinkSpec, redis: Any) -> None:
        self._spec = spec
        self._redis = redis
        self._client: Any = None

    async def open(self) -> None:
        self._client = self._redis.Redis.from_url(
            self._spec.url,
            socket_timeout=CALL_TIMEOUT_S,
            socket_connect_timeout=CALL_TIMEOUT_S,
            protocol=2,
        )

    async def publish(self, messages: Sequence[SinkMessage], /) -> None:
        async with self._client.pipeline(transaction=False) as pipe:
            for message in messages:
                pipe.xadd(
                    self._spec.stream,
                    {"id": message.id, "type": message.type, "data": message.body},
                    maxlen=self._spec.max_length,
                    approximate=True,
                )
            await pipe.execute()

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()
