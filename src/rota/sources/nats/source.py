"""Messages of a JetStream stream, through a durable pull consumer. Room: sources/nats.

The server remembers what the consumer acknowledged. What it gave out and nobody acknowledged comes
again after `ack_wait`, also to the process that reads next. A message is acknowledged when its
event is committed. The stream must be there; the consumer is made if it is not.

An event's id is stream/sequence.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from rota.core.source import NOTHING, Batch, Message
from rota.sources.options import Options, library

LIMIT: Final = 10.0
# JetStream refuses to ask for more at a time.
MOST_ASKED: Final = 256
SHORTEST_WAIT: Final = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    servers: tuple[str, ...] = field(repr=False)
    stream: str
    subject: str | None
    durable: str
    begin: str
    ack_wait: timedelta
    credentials: str | None


def make(options: Mapping[str, Any]) -> "NatsSource":
    return NatsSource(read_options(options), library("nats", extra="nats"))


def read_options(given: Mapping[str, Any]) -> Spec:
    options = Options(given)
    spec = Spec(
        servers=options.texts("servers", wanted="addresses such as nats://nats.example:4222"),
        stream=options.text("stream", wanted="the name of a stream"),
        subject=options.text_or("subject", None, wanted="a subject such as orders.>"),
        durable=options.text_or("durable", "rota", wanted="the name of a consumer") or "rota",
        begin=options.choice("begin", "earliest", "latest"),
        ack_wait=options.duration(
            "ack_wait",
            timedelta(seconds=30),
            shortest=timedelta(seconds=1),
            longest=timedelta(hours=1),
        ),
        credentials=options.text_or(
            "credentials", None, wanted="the path of a file with credentials"
        ),
    )
    options.finish()
    return spec


class NatsSource:
    """`nats` is the module of that name."""

    def __init__(self, spec: Spec, nats: Any) -> None:
        self._spec = spec
        self._nats = nats
        self._client: Any = None
        self._stream: Any = None
        self._batch: list[Any] = []
        self._surplus: list[Any] = []

    async def open(self, position: str | None) -> None:
        del position  # the server has it
        spec = self._spec
        self._batch, self._surplus = [], []
        self._client = await self._nats.connect(
            servers=list(spec.servers),
            user_credentials=spec.credentials,
            name="rota",
            connect_timeout=LIMIT,
            # A lost connection is an error of the next read: the source is then opened again.
            allow_reconnect=False,
            error_cb=forget,
        )
        context = self._client.jetstream(timeout=LIMIT)
        await self._make_consumer(context)
        self._stream = await context.pull_subscribe_bind(durable=spec.durable, stream=spec.stream)

    async def read(self, *, most: int, within: timedelta) -> Batch:
        asked = min(most, MOST_ASKED)
        wait = max(SHORTEST_WAIT, within.total_seconds())
        found, self._surplus = self._surplus, []
        if not found:
            try:
                found = await self._stream.fetch(asked, timeout=wait)
            except (TimeoutError, asyncio.TimeoutError):  # noqa: UP041 — nats-py has its own child
                if self._client.is_closed or not self._client.is_connected:
                    raise
                return NOTHING
        # A fetch also returns what the server sends late for an earlier one that timed out.
        self._batch, self._surplus = found[:asked], found[asked:]
        if not self._batch:
            return NOTHING
        last = max(each.metadata.sequence.stream for each in self._batch)
        messages = [self._message(each) for each in self._batch]
        return Batch(messages=messages, position=str(last))

    async def acknowledge(self, position: str) -> None:
        del position
        batch, self._batch = self._batch, []
        for each in batch:
            await each.ack()
        # Only then has the server heard of it.
        await self._client.flush(timeout=LIMIT)

    async def lag(self) -> int | None:
        told = await self._stream.consumer_info()
        return int(told.num_pending or 0)

    async def close(self) -> None:
        client, self._client, self._stream = self._client, None, None
        if client is not None:
            await client.close()

    async def _make_consumer(self, context: Any) -> None:
        """The consumer as it is, or a new one. What somebody else set up is left alone."""
        spec, api = self._spec, self._nats.js.api
        try:
            await context.consumer_info(spec.stream, spec.durable)
        except self._nats.js.errors.NotFoundError:
            first = api.DeliverPolicy.ALL if spec.begin == "earliest" else api.DeliverPolicy.NEW
            config = api.ConsumerConfig(
                durable_name=spec.durable,
                ack_policy=api.AckPolicy.EXPLICIT,
                deliver_policy=first,
                ack_wait=spec.ack_wait.total_seconds(),
                filter_subject=spec.subject,
            )
            await context.add_consumer(spec.stream, config)

    def _message(self, given: Any) -> Message:
        told = given.metadata
        return Message(
            id=f"{self._spec.stream}/{told.sequence.stream}",
            body=given.data,
            headers=dict(given.headers or {}),
            subject=given.subject,
            time=told.timestamp,
        )


async def forget(error: Exception) -> None:
    """nats-py would print it; the read that fails of it says it."""
    del error
