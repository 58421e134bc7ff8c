"""Does what the hot path leaves for later, in bounded batches with a rest between them.

JobFinisher             marks jobs as finished after their last tick was fired
OverdueSubmissionMover  moves submissions that no scheduler moved at their instant
OneTimeJobMover         turns one-time jobs of earlier releases into submissions
Pruner                  removes expired records: dead sessions, old idempotency keys and links

partition_maintainer.py drops history by day.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from rota.store import (
    backfills,
    hooks,
    idempotency,
    jobs,
    one_time_jobs,
    requeue,
    sessions,
    submissions,
    uniqueness_keys,
)
from rota.store.driver import ConnectionSource
from rota.store.transaction import transaction

FINISH_BATCH_MAX: Final = 500
# Limits marking to a few thousand jobs per second, so that it does not compete with firing.
FINISH_BATCH_INTERVAL_S: Final = 0.2
FINISH_POLL_INTERVAL_S: Final = 2.0

OVERDUE_BATCH_MAX: Final = 500
OVERDUE_POLL_INTERVAL_S: Final = 2.0
# Longer than a current scheduler needs, even right after a database outage.
OVERDUE_AFTER: Final = timedelta(seconds=5)

ONE_TIME_BATCH_MAX: Final = 200
# Between batches: a few thousand jobs per second, far below the load of the hot path.
ONE_TIME_BATCH_INTERVAL_S: Final = 0.1
ONE_TIME_ROUND_INTERVAL_S: Final = 3600.0
FIRST_ID: Final = UUID(int=0)

PRUNE_BATCH_MAX: Final = 500
PRUNE_INTERVAL_S: Final = 30.0
# Long enough to examine yesterday's crash, short enough to keep the list readable.
KEEP_SESSIONS: Final = timedelta(days=1)
KEEP_KEYS: Final = timedelta(hours=24)
KEEP_REPLAYS: Final = timedelta(days=90)
# Signatures of hooks that do not sign a time: as long as a sender's secret is likely to be used.
KEEP_DELIVERIES: Final = timedelta(days=400)
KEEP_BACKFILLS: Final = timedelta(days=90)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFinisher:
    """Marks jobs as finished after their last tick was fired.

    Firing only adds them to a list, because writing the job's row costs as much as the rest of the
    fire. Reads show such a job as finished at once, because it has no cursor (`rota.shown_state`);
    the mark serves queries that filter by state, so it is not urgent.
    """

    source: ConnectionSource

    async def tick(self) -> float:
        async with self.source.acquire() as conn, transaction(conn):
            marked = await jobs.mark_finished(conn, limit=FINISH_BATCH_MAX)
        return FINISH_BATCH_INTERVAL_S if marked >= FINISH_BATCH_MAX else FINISH_POLL_INTERVAL_S


@dataclass(frozen=True, slots=True, kw_only=True)
class OverdueSubmissionMover:
    """Moves submissions that no scheduler moved at their instant.

    During a rolling upgrade, a scheduler of the previous release may hold shards; it does not know
    waiting submissions. Every process of this release moves them, a few seconds late. It calls
    `on_runs_created` when runs are waiting that claimers do not know of yet.
    """

    source: ConnectionSource
    on_runs_created: Callable[[], object]

    async def tick(self) -> float:
        """Move one batch; return how long to rest."""
        async with self.source.acquire() as conn:
            moved = await submissions.move_overdue(
                conn, late=OVERDUE_AFTER, limit=OVERDUE_BATCH_MAX
            )
        if moved:
            self.on_runs_created()
        return 0.0 if moved >= OVERDUE_BATCH_MAX else OVERDUE_POLL_INTERVAL_S


@dataclass(slots=True, kw_only=True)
class OneTimeJobMover:
    """Turns one-time jobs of earlier releases into submissions, in batches.

    A pass reads the jobs after the last one it saw, in one short transaction. It may be interrupted
    at any time: the next process starts with the first job, and moved jobs no longer exist as jobs.
    At the end of the table it rests, because a process of the previous release may still add some.
    """

    source: ConnectionSource
    _after: UUID = FIRST_ID

    async def tick(self) -> float:
        """Move one batch; return how long to rest."""
        async with self.source.acquire() as conn, transaction(conn):
            found = await one_time_jobs.read_jobs(conn, after=self._after, limit=ONE_TIME_BATCH_MAX)
            movable = [job for job in found if job.is_movable]
            if movable:
                await one_time_jobs.move_jobs(conn, movable)
        if not found:
            self._after = FIRST_ID
            return ONE_TIME_ROUND_INTERVAL_S
        self._after = found[-1].id
        return ONE_TIME_BATCH_INTERVAL_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruner:
    """Removes expired records. It does little and rarely, away from the hot path."""

    source: ConnectionSource

    async def tick(self) -> float:
        async with self.source.acquire() as conn:
            closed = await sessions.delete_expired(conn, after=KEEP_SESSIONS, limit=PRUNE_BATCH_MAX)
            pruned = await idempotency.prune_keys(conn, keep=KEEP_KEYS, limit=PRUNE_BATCH_MAX)
            freed = await uniqueness_keys.prune_keys(conn, limit=PRUNE_BATCH_MAX)
            ended = await backfills.delete_ended(conn, keep=KEEP_BACKFILLS, limit=PRUNE_BATCH_MAX)
            deliveries = await hooks.delete_deliveries(
                conn, keep=KEEP_DELIVERIES, limit=PRUNE_BATCH_MAX
            )
            unlinked = await requeue.delete_links(conn, keep=KEEP_REPLAYS, limit=PRUNE_BATCH_MAX)
        return (
            0.0
            if max(closed, pruned, freed, ended, deliveries, unlinked) >= PRUNE_BATCH_MAX
            else PRUNE_INTERVAL_S
        )
