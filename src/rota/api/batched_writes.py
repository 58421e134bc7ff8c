"""Writes jobs and events of several requests in shared commits (see gathering.py)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from rota.api import identifiers
from rota.api.commit_batching import BatchResult, CommitBatcher, PendingSubmission
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

SERVED_KINDS_CACHE_S: Final = 2.0
# How long an interned id is used without reading it again. Maintenance deletes unused rows; reading
# a row keeps it, so this must be shorter than the margin there.
INTERNED_IDS_CACHE: Final = timedelta(days=1)
NEVER: Final = datetime.min.replace(tzinfo=UTC)
# Tenants whose served kinds are cached.
SERVED_TENANTS_MAX: Final = 1000


@dataclass(slots=True)
class JobBatchWriter:
    """Writes jobs; caches the ids of names and policies of earlier batches."""

    _known: CachedIds = field(default_factory=dict)
    _known_since: datetime = NEVER

    async def __call__(
        self,
        conn: Connection,
        submissions: Sequence[PendingSubmission[CheckedJob, SubmittedJob]],
        *,
        now: datetime,
    ) -> BatchResult[SubmittedJob]:
        if now - self._known_since > INTERNED_IDS_CACHE:
            self._known.clear()
            self._known_since = now
        interned = IdCache(self._known)
        drafts = [wish.input for wish in submissions]
        submitted = await job_submission.submit_drafts(
            conn, drafts, now=now, id_cache=interned, names_conflicts=False
        )
        requests = [(wish.call, wish.input.name or wish.input.spec.kind) for wish in submissions]
        await audit_created_jobs(conn, requests, submitted)
        return BatchResult(submitted, interned.keep_committed)


async def write_events(
    conn: Connection,
    submissions: Sequence[PendingSubmission[ReceivedEvent, IngestedEvent]],
    *,
    now: datetime,
) -> BatchResult[IngestedEvent]:
    """Ingest events. A duplicate within the batch is ingested once."""
    tenant_id = submissions[0].call.tenant_id
    events = [wish.input for wish in submissions]
    taken = await ingestion.ingest_checked_events(conn, tenant_id, events, now=now)
    return BatchResult(taken.events)


@dataclass(frozen=True, slots=True)
class CommitBatchers:
    """The commit batchers of a process."""

    jobs: CommitBatcher[CheckedJob, SubmittedJob] = field(
        default_factory=lambda: CommitBatcher(JobBatchWriter())
    )
    events: CommitBatcher[ReceivedEvent, IngestedEvent] = field(
        default_factory=lambda: CommitBatcher(write_events)
    )

    def fail_pending(self, error: StoreUnavailable) -> None:
        """Fail all pending submissions: the database is unreachable."""
        self.jobs.fail_pending(error)
        self.events.fail_pending(error)


async def audit_created_jobs(
    conn: Connection, requests: Sequence[tuple["Call", str]], submitted: Sequence[SubmittedJob]
) -> None:
    """Audit who created which job. A one-time submission stores its submitter itself."""
    entries = [
        build_audit_entry(call, name, result)
        for (call, name), result in zip(requests, submitted, strict=True)
        if not result.is_deduplicated and not result.is_submission
    ]
    if entries:
        await audit.record_changes(conn, entries)


def build_audit_entry(call: "Call", name: str, submitted: SubmittedJob) -> NewAuditEntry:
    return NewAuditEntry(
        tenant_id=call.tenant_id,
        actor=call.actor,
        key_id=call.principal.key_id,
        source=call.address,
        action="job.create",
        thing="job",
        thing_id=identifiers.format_job_id(submitted.job_id),
        after={"name": name, "version": 1},
        request_id=call.request_id,
        origin=call.origin,
    )


@dataclass(slots=True)
class ServedKindsCache:
    """Caches the kinds that live workers serve for a tenant, each with the fields of its payload if
    known. Used for warnings only, so it may be a moment old.
    """

    monotonic: Callable[[], float]
    _known: dict[str, tuple[float, ServedKinds]] = field(default_factory=dict)

    async def read_kinds(self, pool: Pool, tenant: str) -> ServedKinds:
        now = self.monotonic()
        read, known = self._known.get(tenant, (float("-inf"), {}))
        if now - read > SERVED_KINDS_CACHE_S:
            if len(self._known) >= SERVED_TENANTS_MAX:
                self._known.clear()
            # Set before reading, so that other requests do not read as well.
            self._known[tenant] = (now, known)
            async with pool.acquire() as conn:
                known = await cluster_views.read_served_kinds(conn, tenant=tenant)
            self._known[tenant] = (now, known)
        return known
