"""Matches events with the subscriptions of webhook endpoints, in the transaction of the relay (I7).

Reads the subscriptions before every pass, so that an endpoint gets the events that follow its
creation. Without endpoints it asks the relay for nothing and writes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from rota.core.outgoing_events import OutgoingEvent, RelayInterests
from rota.core.webhook_bodies import StoredEvent, build_extras, build_stored_event
from rota.core.webhook_subscriptions import WebhookSubscription, collect_interests
from rota.store import webhook_deliveries, webhooks
from rota.store.driver import Connection
from rota.store.webhook_deliveries import NewDelivery


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSubscriber:
    """Inserts events and deliveries. `public_url` is the address of the dashboard for links."""

    public_url: str | None = None
    name: str = "webhooks"

    async def read_interests(self, conn: Connection, /) -> RelayInterests:
        subscriptions = await webhooks.read_subscriptions(conn)
        names = {
            (each.tenant_id, each.event_filter.job)
            for each in subscriptions
            if each.event_filter.job is not None and "*" not in each.event_filter.job
        }
        jobs = await webhooks.find_named_jobs(conn, sorted(names)) if names else {}
        return collect_interests(subscriptions, jobs)

    async def consume(
        self, conn: Connection, events: Sequence[OutgoingEvent], /, *, now: datetime
    ) -> None:
        """Store the events that an endpoint subscribes to; known ones are left unchanged."""
        del now
        # Read again: an endpoint may have been created while the relay read its events.
        subscriptions = await webhooks.read_subscriptions(conn) if events else []
        matches = match_events(events, subscriptions)
        if not matches:
            return
        extras = await self._read_extras(conn, matches)
        stored = [(event.tenant_id, self._build_event(event, extras)) for event, _ in matches]
        deliveries = [
            NewDelivery(tenant_id=event.tenant_id, endpoint_id=each.endpoint_id, event_id=event.id)
            for event, matched in matches
            for each in matched
        ]
        await webhook_deliveries.insert_events(conn, stored, deliveries)

    async def _read_extras(
        self,
        conn: Connection,
        matches: Sequence[tuple[OutgoingEvent, Sequence[WebhookSubscription]]],
    ) -> Mapping[UUID, Mapping[str, Any]]:
        """Return payload and result of the runs for which an endpoint includes them."""
        runs = {
            event.run_id: event.tenant_id
            for event, matched in matches
            if event.run_id is not None and any(each.include for each in matched)
        }
        return await webhook_deliveries.read_run_extras(conn, runs) if runs else {}

    def _build_event(
        self, event: OutgoingEvent, extras: Mapping[UUID, Mapping[str, Any]]
    ) -> StoredEvent:
        found = None if event.run_id is None else extras.get(event.run_id)
        return build_stored_event(
            event,
            public_url=self.public_url,
            extras=None if found is None else build_extras(found),
        )


def match_events(
    events: Sequence[OutgoingEvent], subscriptions: Sequence[WebhookSubscription]
) -> list[tuple[OutgoingEvent, list[WebhookSubscription]]]:
    """Return the events that an endpoint subscribes to, each with its subscriptions."""
    by_type: dict[tuple[int, str], list[WebhookSubscription]] = {}
    for each in subscriptions:
        for type_ in each.types:
            by_type.setdefault((each.tenant_id, type_), []).append(each)
    matches = {}
    for event in events:
        candidates = by_type.get((event.tenant_id, event.type), ())
        if matched := [each for each in candidates if each.matches(event)]:
            # A pass may hold an event twice.
            matches[event.id] = (event, matched)
    return list(matches.values())
