"""Publishes events to one sink; one process of the fleet publishes to each.

Every process has a duty for each sink in its settings. The holder of the sink's lease reads what is
new (tails.py), publishes it, waits for the broker's acknowledgement, and then moves the sink's own
position, `sink:NAME` in `rota.relays`. If it dies in between, the next one publishes the same
events again, with the same ids. A sink that fails is closed and tried again later; its position
stays, so it loses nothing as long as the rows are kept (`retention.runs`).
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Final
from uuid import UUID

from rota.core.clock import ClockSource
from rota.core.errors import LeaseLost, NotFound, RotaError, StoreUnavailable
from rota.core.log_events import Emit, EventsRelayed, SinkFailed
from rota.core.outgoing_events import OutgoingEvent, RelayInterests
from rota.core.sink import Sink, SinkMessage
from rota.core.webhook_bodies import (
    build_stored_event,
    format_event_id,
    render_body,
)
from rota.engine.relay.relay import LEASE_CHECK_INTERVAL_S, PASS_INTERVAL_S, LeasedPosition
from rota.engine.relay.tails import (
    SLICE_FIRST,
    SLICE_MIN,
    TailPass,
    adapt_slice,
    sort_interests,
)
from rota.runtime.backoff import Backoff
from rota.store import interning, relays
from rota.store.driver import ConnectionSource
from rota.store.named_leases import NamedLease
from rota.store.relays import RelayHorizon
from rota.store.transaction import transaction

SINK_PREFIX: Final = "sink:"
# Well below the lease, so that two processes do not publish for long.
CALL_TIMEOUT_S: Final = 20.0
PUBLISHED_AT_ONCE_MAX: Final = 1_000
PAUSE_MAX: Final = timedelta(minutes=1)
REASON_CHARS_MAX: Final = 500
# User and password in a URL, as they may appear in the error of a library.
USER_INFO: Final = re.compile(r"(?<=://)[^\s/@]+@")


class SinkBroken(Exception):
    """A sink raised an error or did not answer in time; the text is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredSink:
    """A sink as configured. `events` has types and patterns with `*`."""

    name: str
    kind: str
    tenants: Sequence[str]
    events: Sequence[str]
    build_sink: Callable[[], Sink]


@dataclass(slots=True, kw_only=True)
class SinkPublisher:
    """Publishes to one sink as a background duty. `holder` names this process to people."""

    configured: ConfiguredSink
    source: ConnectionSource
    clock: ClockSource
    rng: Random
    emit: Emit
    owner: UUID
    holder: str
    _held: LeasedPosition = field(init=False)
    _backoff: Backoff = field(init=False)
    _sink: Sink | None = None
    _slice: timedelta = SLICE_FIRST

    def __post_init__(self) -> None:
        self._held = LeasedPosition(
            name=f"{SINK_PREFIX}{self.configured.name}",
            owner=self.owner,
            holder=self.holder,
            clock=self.clock,
            emit=self.emit,
        )
        self._backoff = Backoff(rng=self.rng, min_pause=timedelta(seconds=1), max_pause=PAUSE_MAX)

    async def tick(self) -> float:
        """Publish one batch, if this process holds the lease."""
        try:
            async with self.source.acquire() as conn:
                lease = await self._held.hold(conn)
            if lease is None:
                await self._close()
                return LEASE_CHECK_INTERVAL_S
            has_more = await self._pass(lease)
            self._backoff.reset()
        except LeaseLost:
            self._held.forget()
            self._held.lease = None
            return PASS_INTERVAL_S
        except (SinkBroken, NotFound) as error:
            return await self._fail(str(error))
        except BaseException as error:
            self._held.forget()
            if isinstance(error, StoreUnavailable):
                self._slice = max(SLICE_MIN, self._slice / 2)
            raise
        return 0.0 if has_more else PASS_INTERVAL_S

    async def release(self) -> None:
        """Release the lease, so that another process continues at once."""
        await self._close()
        await self._held.release(self.source)

    async def _pass(self, lease: NamedLease) -> bool:
        began_s = self.clock.monotonic()
        horizon, done, tenants = await self._read()
        messages = [
            build_message(event, tenant=tenants[event.tenant_id])
            for event in done.events
            if event.tenant_id in tenants and is_wanted(event, self.configured.events)
        ]
        # No transaction is open meanwhile: a broker may take seconds.
        await self._publish(messages)
        held = self._held
        if messages or held.is_move_due(horizon, done):
            async with self.source.acquire() as conn:
                async with transaction(conn):
                    position = await held.move(conn, lease, horizon, done)
                held.position = position
        took_s = self.clock.monotonic() - began_s
        self._slice = adapt_slice(self._slice, events=len(done.events), took_s=took_s)
        if messages:
            lag = horizon.now - done.complete_until
            self.emit(EventsRelayed(name=held.name, count=len(messages), lag=lag))
        return done.has_more

    async def _read(self) -> tuple[RelayHorizon, TailPass, Mapping[int, str]]:
        async with self.source.acquire() as conn:
            found = await interning.find_tenant_ids(conn, self.configured.tenants)
            tenants = {id_: name for name, id_ in found.items()}
            interests = sort_interests(collect_interests(self.configured.events, tenants))
            async with transaction(conn):
                horizon = await relays.read_relay_horizon(conn)
                reader = await self._held.open(conn, horizon)
                done = await reader.read(conn, horizon, interests, length=self._slice)
        return horizon, done, tenants

    async def _publish(self, messages: Sequence[SinkMessage]) -> None:
        for start in range(0, len(messages), PUBLISHED_AT_ONCE_MAX):
            part = messages[start : start + PUBLISHED_AT_ONCE_MAX]
            try:
                async with asyncio.timeout(CALL_TIMEOUT_S):
                    sink = self._sink
                    if sink is None:
                        # Kept before it is open, so that a failure closes it.
                        self._sink = sink = self.configured.build_sink()
                        await sink.open()
                    await sink.publish(part)
            except TimeoutError:
                raise SinkBroken(f"it did not answer within {CALL_TIMEOUT_S:g} s") from None
            except RotaError:
                raise
            except Exception as error:  # a client library may raise anything
                raise SinkBroken(f"{type(error).__name__}: {error}") from error

    async def _fail(self, reason: str) -> float:
        """Close the sink and release the lease: another process may reach the broker."""
        pause = self._backoff.next_pause()
        await self.release()
        sink = self.configured
        text = render_sink_reason(reason)
        self.emit(SinkFailed(sink=sink.name, kind=sink.kind, reason=text, pause=pause))
        return pause.total_seconds()

    async def _close(self) -> None:
        sink, self._sink = self._sink, None
        if sink is not None:
            # The connection may be broken already.
            with suppress(Exception):
                async with asyncio.timeout(CALL_TIMEOUT_S):
                    await sink.close()


def collect_interests(patterns: Sequence[str], tenants: Mapping[int, str]) -> RelayInterests:
    """Return what to read for these types of events."""
    everyone = frozenset(tenants)
    nobody = frozenset[int]()

    def choose(*types: str) -> frozenset[int]:
        return everyone if any(matches_type(type_, patterns) for type_ in types) else nobody

    return RelayInterests(
        succeeded_tenants=choose("run.succeeded", "graph.succeeded"),
        attempt_tenants=choose("attempt.failed"),
        audit_tenants=choose("job.*", "endpoint.*", "backfill.ended"),
        incident_tenants=choose("incident.*"),
    )


def matches_type(type_: str, patterns: Sequence[str]) -> bool:
    """Return whether a pattern matches a type, or one of the types of a group such as `job.*`."""
    group = type_.partition(".")[0]
    if type_.endswith(".*"):
        return any(pattern == "*" or pattern.partition(".")[0] == group for pattern in patterns)
    return any(pattern in ("*", type_, f"{group}.*") for pattern in patterns)


def is_wanted(event: OutgoingEvent, patterns: Sequence[str]) -> bool:
    return matches_type(event.type, patterns)


def build_message(event: OutgoingEvent, *, tenant: str) -> SinkMessage:
    """Build the message of an event: a CloudEvent in JSON."""
    stored = build_stored_event(event)
    body = render_body(stored, style="cloudevents", include=(), tenant=tenant)
    return SinkMessage(
        id=format_event_id(event.id),
        type=event.type,
        key=tenant if event.job_id is None else f"job_{event.job_id.hex}",
        body=body.content,
        media_type=body.media_type,
    )


def render_sink_reason(text: str) -> str:
    """Return a reason for display: one short line, without passwords."""
    line = " ".join(text.split())
    line = USER_INFO.sub("***@", "".join(char for char in line if char.isprintable()))
    return line if len(line) <= REASON_CHARS_MAX else f"{line[: REASON_CHARS_MAX - 1]}…"
