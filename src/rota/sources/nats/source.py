"""Reads messages of a JetStream stream with a durable pull consumer.

The server stores what the consumer has acknowledged. It redelivers unacknowledged messages after
`ack_wait`, also to the next process. The source acknowledges a message after its event is
committed. The stream must exist; the source creates the consumer if it does not exist.

An event's id is stream/sequence.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from rota.core.source import EMPTY_BATCH, Batch, Message
from rota.sources.options import SourceOptions, import_library

CALL_TIMEOUT_S: Final = 10.0
# The limit of JetStream for one fetch.
FETCH_MAX: Final = 256
FETCH_TIMEOUT_MIN_S: Final = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class NatsSpec:
    servers: tuple[str, ...] = field(repr=False)
    stream: str
    subject: str | None
    durable: str
    begin: str
    ack_wait: timedelta
    credentials: str | None


def make(options: Mapping[str, Any]) -> "NatsSource":
    return NatsSource(read_options(options), import_library("nats", extra="nats"))


def read_options(values: Mapping[str, Any]) -> NatsSpec:
    options = SourceOptions(values)
    spec = NatsSpec(
        servers=options.read_texts("servers", wanted="addresses such as nats://nats.example:4222"),
        stream=options.read_text("stream", wanted="the name of a stream"),
        subject=options.read_optional_text("subject", None, wanted="a subject such as orders.>"),
        durable=options.read_optional_text("durable", "rota", wanted="the name of a consumer")
        or "rota",
        begin=options.read_choice("begin", "earliest", "latest"),
        ack_wait=options.read_duration(
            "ack_wait",
            timedelta(seconds=30),
            shortest=timedelta(seconds=1),
            longest=timedelta(hours=1),
        ),
        credentials=options.read_optional_text(
            "credentials", None, wanted="the path of a file with credentials"
        ),
    )
    options.refuse_others()
    return spec


class NatsSource:
    """Reads a JetStream stream. `nats` is the module nats."""

    def __init__(self, spec: NatsSpec, nats: Any) -> None:
        self._spec = spec
        self._nats = nats
        self._client: Any = None
        self._stream: Any = None
        self._batch: list[Any] = []
        self._surplus: list[Any] = []

    async def open(self, position: str | None) -> None:
        del position  # the server stores it
        spec = self._spec
        self._batch, self._surplus = [], []
        self._client = await self._nats.connect(
            servers=list(spec.servers),
            user_credentials=spec.credentials,
            name="rota",
            connect_timeout=CALL_TIMEOUT_S,
            # After a lost connection the next read fails, and the source is opened again.
            allow_reconnect=False,
            error_cb=ignore_error,
        )
        context = self._client.jetstream(timeout=CALL_TIMEOUT_S)
        await self._make_consumer(context)
        self._stream = await context.pull_subscribe_bind(durable=spec.durable, stream=spec.stream)

    async def read(self, *, limit: int, within: timedelta) -> Batch:
        count = min(limit, FETCH_MAX)
        wait = max(FETCH_TIMEOUT_MIN_S, within.total_seconds())
        received, self._surplus = self._surplus, []
        if not received:
            try:
                received = await self._stream.fetch(count, timeout=wait)
            except (TimeoutError, asyncio.TimeoutError):  # noqa: UP041 — nats-py has a subclass
                if self._client.is_closed or not self._client.is_connected:
                    raise
                return EMPTY_BATCH
        # A fetch also returns late messages of an earlier fetch that timed out.
        self._batch, self._surplus = received[:count], received[count:]
        if not self._batch:
            return EMPTY_BATCH
        last = max(message.metadata.sequence.stream for message in self._batch)
        messages = [self._message(message) for message in self._batch]
        return Batch(messages=messages, position=str(last))

    async def acknowledge(self, position: str) -> None:
        del position
        batch, self._batch = self._batch, []
        for message in batch:
            await message.ack()
        # The flush waits until the server has received the acknowledgements.
        await self._client.flush(timeout=CALL_TIMEOUT_S)

    async def lag(self) -> int | None:
        info = await self._stream.consumer_info()
        return int(info.num_pending or 0)

    async def close(self) -> None:
        client, self._client, self._stream = self._client, None, None
        if client is not None:
            await client.close()

    async def _make_consumer(self, context: Any) -> None:
        """Create the consumer if it does not exist; an existing one is not changed."""
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

    def _message(self, received: Any) -> Message:
        metadata = received.metadata
        return Message(
            id=f"{self._spec.stream}/{metadata.sequence.stream}",
            body=received.data,
            headers=dict(received.headers or {}),
            subject=received.subject,
            time=metadata.timestamp,
        )


async def ignore_error(error: Exception) -> None:
    """Ignore an error that nats-py would print; the failing read reports it."""
    del error
