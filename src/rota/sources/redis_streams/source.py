"""Reads entries of one Redis stream with a consumer group.

Redis stores which entries were delivered to the group and not acknowledged. The source reads its
own unacknowledged entries first after every start, and regularly claims entries that other
consumers of the group have left unacknowledged for `claim_after`. It acknowledges an entry after
its event is committed, and deletes it with `after = "delete"`.

An event's id is stream/entry.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from rota.core.source import EMPTY_BATCH, Batch, Message
from rota.sources.options import SourceOptions, import_library

CALL_TIMEOUT_S: Final = 10.0
FIRST_ENTRY_ID: Final = "0-0"
# Entries that were not delivered to any consumer of the group.
NEW_ENTRIES: Final = ">"
CLAIM_MAX: Final = 100
# The years 2001 to 2286, in milliseconds.
PLAUSIBLE_MILLISECONDS: Final = (10**12, 10**13)

StreamEntry = tuple[bytes, dict[bytes, bytes] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisSpec:
    url: str = field(repr=False)
    stream: str
    group: str
    consumer: str
    begin: str
    after: str
    claim_after: timedelta
    data_field: str
    type_field: str | None


def make(options: Mapping[str, Any]) -> "RedisSource":
    return RedisSource(read_options(options), import_library("redis.asyncio", extra="redis"))


def read_options(values: Mapping[str, Any]) -> RedisSpec:
    options = SourceOptions(values)
    spec = RedisSpec(
        url=options.read_text(
            "url", wanted="a URL such as redis://:${PASSWORD}@redis.example:6379/0", secret=True
        ),
        stream=options.read_text("stream", wanted="the key of a stream"),
        group=options.read_optional_text("group", "rota", wanted="the name of a consumer group")
        or "rota",
        consumer=options.read_optional_text("consumer", "rota", wanted="the name of a consumer")
        or "rota",
        begin=options.read_choice("begin", "earliest", "latest"),
        after=options.read_choice("after", "keep", "delete"),
        claim_after=options.read_duration(
            "claim_after",
            timedelta(minutes=1),
            shortest=timedelta(seconds=1),
            longest=timedelta(days=1),
        ),
        data_field=options.read_optional_text("data_field", "data", wanted="the name of a field")
        or "data",
        type_field=options.read_optional_text("type_field", None, wanted="the name of a field"),
    )
    options.refuse_others()
    return spec


class RedisSource:
    """Reads a Redis stream. `redis` is the module redis.asyncio."""

    def __init__(self, spec: RedisSpec, redis: Any) -> None:
        self._spec = spec
        self._redis = redis
        self._client: Any = None
        self._from = FIRST_ENTRY_ID
        self._batch: list[bytes] = []
        self._claimed_at = 0.0

    async def open(self, position: str | None) -> None:
        del position  # Redis stores it
        self._client = self._redis.Redis.from_url(
            self._spec.url,
            socket_timeout=CALL_TIMEOUT_S,
            socket_connect_timeout=CALL_TIMEOUT_S,
            protocol=2,
        )
        # Start with this consumer's own unacknowledged entries.
        self._from, self._batch = FIRST_ENTRY_ID, []
        self._claimed_at = float("-inf")
        begin = "0" if self._spec.begin == "earliest" else "$"
        try:
            await self._client.xgroup_create(
                self._spec.stream, self._spec.group, id=begin, mkstream=True
            )
        except self._redis_error("ResponseError") as error:
            if "BUSYGROUP" not in str(error):  # the group exists already
                raise

    async def read(self, *, limit: int, within: timedelta) -> Batch:
        entries = await self._claim(limit) or await self._next(limit, within)
        if not entries:
            return EMPTY_BATCH
        self._batch = [key for key, _ in entries]
        # An entry that was deleted before it was acknowledged has no fields.
        existing = [(key, fields) for key, fields in entries if fields]
        messages = [self._message(key.decode(), fields) for key, fields in existing]
        return Batch(messages=messages, position=self._batch[-1].decode())

    async def acknowledge(self, position: str) -> None:
        del position
        batch, self._batch = self._batch, []
        async with self._client.pipeline(transaction=True) as pipe:
            pipe.xack(self._spec.stream, self._spec.group, *batch)
            if self._spec.after == "delete":
                pipe.xdel(self._spec.stream, *batch)
            await pipe.execute()

    async def lag(self) -> int | None:
        groups = await self._client.xinfo_groups(self._spec.stream)
        group = next(info for info in groups if info["name"] == self._spec.group.encode())
        # Unknown before Redis 7, and after entries in the middle were deleted.
        return None if group.get("lag") is None else int(group["lag"])

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _next(self, most: int, within: timedelta) -> list[StreamEntry]:
        """This consumer's unacknowledged entries while there are any; then new entries."""
        if self._from != NEW_ENTRIES:
            entries = await self._read_group(most, None)
            if entries:
                self._from = entries[-1][0].decode()
                return entries
            self._from = NEW_ENTRIES
        return await self._read_group(most, within)

    async def _read_group(self, most: int, within: timedelta | None) -> list[StreamEntry]:
        # A block of 0 would wait forever.
        block = None if within is None else max(1, within // timedelta(milliseconds=1))
        answer = await self._client.xreadgroup(
            self._spec.group,
            self._spec.consumer,
            {self._spec.stream: self._from},
            count=most,
            block=block,
        )
        return list(answer[0][1]) if answer else []

    async def _claim(self, most: int) -> list[StreamEntry]:
        """Claim entries that other consumers of the group have not acknowledged in time."""
        now = asyncio.get_running_loop().time()
        if now - self._claimed_at < self._spec.claim_after.total_seconds():
            return []
        answer = await self._client.xautoclaim(
            self._spec.stream,
            self._spec.group,
            self._spec.consumer,
            min_idle_time=self._spec.claim_after // timedelta(milliseconds=1),
            start_id=FIRST_ENTRY_ID,
            count=min(most, CLAIM_MAX),
        )
        entries: list[StreamEntry] = list(answer[1])
        if not entries:
            self._claimed_at = now
        return entries

    def _message(self, key: str, fields: dict[bytes, bytes]) -> Message:
        """Build a message from the data field, or from all fields if the entry has no such."""
        body = fields.get(self._spec.data_field.encode())
        named = {decode_text(name): decode_text(value) for name, value in fields.items()}
        milliseconds, _, _ = key.partition("-")
        kind = self._spec.type_field
        return Message(
            id=f"{self._spec.stream}/{key}",
            body=named if body is None else body,
            headers=None if body is None else named,
            type=None if kind is None else named.get(kind),
            time=parse_id_time(int(milliseconds)),
        )

    def _redis_error(self, name: str) -> type[Exception]:
        error: type[Exception] = getattr(self._redis, name)
        return error


def decode_text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def parse_id_time(milliseconds: int) -> datetime | None:
    """The time of an entry's id; None if a producer chose ids that are not times."""
    if not PLAUSIBLE_MILLISECONDS[0] <= milliseconds <= PLAUSIBLE_MILLISECONDS[1]:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
