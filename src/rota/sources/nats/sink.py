"""Publishes events to JetStream, under the subject `{subject}.{type of the event}`.

A stream must exist that stores these subjects. The id of an event is its `Nats-Msg-Id`, so the
stream drops an event that is published again within its duplicate window.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rota.core.sink import SinkMessage
from rota.sources.options import SourceOptions, import_library

CALL_TIMEOUT_S: Final = 10.0
# Messages whose acknowledgement is awaited at the same time.
IN_FLIGHT_MAX: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class NatsSinkSpec:
    servers: tuple[str, ...] = field(repr=False)
    subject: str
    credentials: str | None


def make(options: Mapping[str, Any]) -> "NatsSink":
    return NatsSink(read_options(options), import_library("nats", extra="nats"))


def read_options(values: Mapping[str, Any]) -> NatsSinkSpec:
    options = SourceOptions(values)
    spec = NatsSinkSpec(
        servers=options.read_texts("servers", wanted="addresses such as nats://nats.example:4222"),
        subject=options.read_optional_text("subject", "rota", wanted="the start of subjects")
        or "rota",
        credentials=options.read_optional_text(
            "credentials", None, wanted="the path of a file with credentials"
        ),
    )
    options.refuse_others()
    return spec


class NatsSink:
    """Publishes to JetStream. `nats` is the module nats."""

    def __init__(self, spec: NatsSinkSpec, nats: Any) -> None:
        self._spec = spec
        self._nats = nats
        self._client: Any = None
        self._stream: Any = None

    async def open(self) -> None:
        self._client = await self._nats.connect(
            servers=list(self._spec.servers),
            user_credentials=self._spec.credentials,
            name="rota",
            connect_timeout=CALL_TIMEOUT_S,
            # After a lost connection the next publish fails, and the sink is opened again.
            allow_reconnect=False,
            error_cb=ignore_error,
        )
        self._stream = self._client.jetstream(timeout=CALL_TIMEOUT_S)

    async def publish(self, messages: Sequence[SinkMessage], /) -> None:
        for start in range(0, len(messages), IN_FLIGHT_MAX):
            part = messages[start : start + IN_FLIGHT_MAX]
            await asyncio.gather(*(self._publish_one(message) for message in part))

    async def close(self) -> None:
        client, self._client, self._stream = self._client, None, None
        if client is not None:
            await client.close()

    async def _publish_one(self, message: SinkMessage) -> None:
        await self._stream.publish(
            f"{self._spec.subject}.{message.type}",
            message.body,
            timeout=CALL_TIMEOUT_S,
            headers={"Nats-Msg-Id": message.id, "Content-Type": message.media_type},
        )


async def ignore_error(_error: Exception) -> None:
    """Errors are raised by the calls that they concern."""
