"""Matches stored events again (S7, S13).

The events are matched with the current jobs and become new runs. The new matches are stored with
the events. The token of the dry run identifies the replay: an event that has it is skipped, so a
repeated call creates nothing twice.
"""

import json
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.bulk_operations import BulkConfirmation
from rota.core.errors import NotFound
from rota.core.event_rules import replay as replay_rules
from rota.core.event_rules.event import ReceivedEvent
from rota.core.event_rules.replay import ReplayFilter
from rota.core.ids import build_id
from rota.core.submissions import encode_canonical
from rota.core.time import moments
from rota.engine.events.event_decisions import MatchContext, apply_decisions, decide_events
from rota.store import events, jobs
from rota.store.driver import Connection
from rota.store.events import FIRST_ID, LAST_ID, EventRange, EventRow
from rota.store.transaction import join_transaction

# Events that are matched at a time.
REPLAY_BATCH_MAX: Final = 500
_STEP: Final = timedelta(milliseconds=1)


class EventReplayCount(NamedTuple):
    """The result of a dry run: the number of matching events, and the confirmation token."""

    found: int
    token: str


class ReplayedEvents(NamedTuple):
    """The number of events that were matched again, and the new runs."""

    events: int
    new_run_ids: tuple[UUID, ...]


def build_range(which: ReplayFilter) -> EventRange:
    """Return a filter as a range of event ids, which begin with the time of arrival."""
    return EventRange(
        from_id=FIRST_ID if which.since is None else build_id(which.since, bytes(10)),
        before=LAST_ID if which.until is None else build_id(which.until, bytes(10)),
        type=which.type,
        source=which.source,
    )


async def count_events(
    conn: Connection, filter_: ReplayFilter, *, tenant_id: int, now: datetime
) -> EventReplayCount:
    """Count the events that a replay would match, and return the token for it."""
    filter_ = replay_rules.check_filter(filter_)
    await _refuse_foreign(conn, filter_, tenant_id)
    until = now + _STEP
    wanted = build_range(replay_rules.limit_until(filter_, until))
    found = await events.count_events(
        conn, wanted, tenant_id=tenant_id, limit=replay_rules.REPLAY_EVENTS_MAX + 1
    )
    promise = BulkConfirmation(count=replay_rules.check_count(found), until=until)
    return EventReplayCount(found, replay_rules.create_token(filter_, promise, tenant_id=tenant_id))


async def replay_events(
    conn: Connection, filter_: ReplayFilter, *, tenant_id: int, token: str, now: datetime
) -> ReplayedEvents:
    """Match the events that a dry run counted, all or none."""
    filter_ = replay_rules.check_filter(filter_)
    promise = replay_rules.read_token(filter_, token, tenant_id=tenant_id)
    wanted = build_range(replay_rules.limit_until(filter_, promise.until))
    why = MatchContext(tenant_id=tenant_id, at=now, replay=promise.until, only=filter_.job_id)
    done, made, after = 0, [], FIRST_ID
    async with join_transaction(conn):
        await _refuse_foreign(conn, filter_, tenant_id)
        found = await events.count_events(
            conn, wanted, tenant_id=tenant_id, limit=replay_rules.REPLAY_EVENTS_MAX + 1
        )
        replay_rules.check_not_grown(found, promise)
        while rows := await events.select_events(
            conn, wanted, tenant_id=tenant_id, after=after, limit=REPLAY_BATCH_MAX
        ):
            after = rows[-1].id
            made += await _match_again(conn, rows, why)
            done += len(rows)
    return ReplayedEvents(done, tuple(made))


async def _match_again(conn: Connection, rows: list[EventRow], why: MatchContext) -> list[UUID]:
    name = moments.to_rfc3339(why.run_id_time)
    new = [row for row in rows if not _has_replay(row, name)]
    decided = await decide_events(conn, [_event_of_row(row) for row in new], why)
    texts = {
        event_id: encode_canonical([{**match.to_plain(), "replay": name} for match in matches])
        for event_id, matches in decided.matches.items()
        if matches
    }
    if texts:
        await events.add_matches(conn, texts, tenant_id=why.tenant_id)
    return await apply_decisions(conn, decided, why)


def _has_replay(row: EventRow, name: str) -> bool:
    return any(match.get("replay") == name for match in json.loads(row.matches))


def _event_of_row(row: EventRow) -> ReceivedEvent:
    shown = json.loads(row.body)
    return ReceivedEvent(
        event_id=row.id,
        received_at=row.received_at,
        type=row.type,
        source=row.source,
        id=shown["id"],
        attributes=shown,
        json_text=row.body,
    )


async def _refuse_foreign(conn: Connection, which: ReplayFilter, tenant_id: int) -> None:
    if which.job_id is None:
        return
    job = (await jobs.read_jobs(conn, [which.job_id])).get(which.job_id)
    if job is None or job.tenant_id != tenant_id:
        raise NotFound("job", str(which.job_id))
