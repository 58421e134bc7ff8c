"""Writes jobs and events of several requests in shared commits (see gathering.py)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from rota.api import identifiers
from rota.api.gathering import Gathering, Wish, Written
from rota.core.errors import StoreUnavailable
from rota.core.event_rules.event import ReceivedEvent
from rota.core.kind_remedies import ServedKinds
from rota.engine.events import ingestion
from rota.engine.events.ingestion import IngestedEvent
from rota.engine.submission import job_submission
from rota.engine.submission.drafts import CheckedJob
from rota.engine.submission.id_cache import CachedIds, IdCache
from rota.engine.submission.job_submission import SubmittedJob
from rota.store import audit, cluster_views
from rota.store.audit import NewAuditEntry
from rota.store.driver import Connection, Pool

if TYPE_CHECKING:
    from rota.api.call import Call

SERVED_FOR: Final = 2.0
# How long an interned id is used without reading it again. Maintenance deletes unused rows; reading
# a row keeps it, so this must be shorter than the margin there.
KNOWN_FOR: Final = timedelta(days=1)
NEVER: Final = datetime.min.replace(tzinfo=UTC)
# Tenants whose served kinds are cached.
SERVED_TENANTS_MAX: Final = 1000


@dataclass(slots=True)
class Jobs:
    """Writes jobs; caches the ids of names and policies of earlier batches."""

    _known: CachedIds = field(default_factory=dict)
    _known_since: datetime = NEVER

    async def __call__(
        self, conn: Connection, wishes: Sequence[Wish[CheckedJob, SubmittedJob]], *, now: datetime
    ) -> Written[SubmittedJob]:
        if now - self._known_since > KNOWN_FOR:
            self._known.clear()
            self._known_since = now
        interned = IdCache(self._known)
        drafts = [wish.given for wish in wishes]
        submitted = await job_submission.submit_drafts(
            conn, drafts, now=now, id_cache=interned, names_conflicts=False
        )
        requests = [(wish.call, wish.given.name or wish.given.spec.kind) for wish in wishes]
        await note_made(conn, requests, submitted)
        return Written(submitted, interned.keep_committed)


async def write_events(
    conn: Connection, wishes: Sequence[Wish[ReceivedEvent, IngestedEvent]], *, now: datetime
) -> Written[IngestedEvent]:
    """Ingest events. A duplicate within the batch is ingested once."""
    tenant_id = wishes[0].call.tenant_id
    events = [wish.given for wish in wishes]
    taken = await ingestion.ingest_checked_events(conn, tenant_id, events, now=now)
    return Written(taken.events)


@dataclass(frozen=True, slots=True)
class Gathered:
    """The commit batchers of a process."""

    jobs: Gathering[CheckedJob, SubmittedJob] = field(default_factory=lambda: Gathering(Jobs()))
    events: Gathering[ReceivedEvent, IngestedEvent] = field(
        default_factory=lambda: Gathering(write_events)
    )

    def refuse_waiting(self, error: StoreUnavailable) -> None:
        """Fail all pending submissions: the database is unreachable."""
        self.jobs.refuse_waiting(error)
        self.events.refuse_waiting(error)


async def note_made(
    conn: Connection, asked: Sequence[tuple["Call", str]], made: Sequence[SubmittedJob]
) -> None:
    """Audit who created which job. A one-time submission stores its submitter itself."""
    entries = [
        entry(call, name, result)
        for (call, name), result in zip(asked, made, strict=True)
        if not result.is_deduplicated and not result.is_submission
    ]
    if entries:
        await audit.record_changes(conn, entries)


def entry(call: "Call", name: str, made: SubmittedJob) -> NewAuditEntry:
    return NewAuditEntry(
        tenant_id=call.tenant_id,
        actor=call.actor,
        key_id=call.principal.key_id,
        source=call.address,
        action="job.create",
        thing="job",
        thing_id=identifiers.job(made.job_id),
        after={"name": name, "version": 1},
        request_id=call.request_id,
        origin=call.origin,
    )


@dataclass(slots=True)
class Served:
    """Caches the kinds that live workers serve for a tenant, each with the fields of its payload if
    known. Used for warnings only, so it may be a moment old.
    """

    monotonic: Callable[[], float]
    _known: dict[str, tuple[float, ServedKinds]] = field(default_factory=dict)

    async def kinds(self, pool: Pool, tenant: str) -> ServedKinds:
        now = self.monotonic()
        read, known = self._known.get(tenant, (float("-inf"), {}))
        if now - read > SERVED_FOR:
            if len(self._known) >= SERVED_TENANTS_MAX:
                self._known.clear()
            # Set before reading, so that other requests do not read as well.
            self._known[tenant] = (now, known)
            async with pool.acquire() as conn:
                known = await cluster_views.read_served_kinds(conn, tenant=tenant)
            self._known[tenant] = (now, known)
        return known
