"""Creates or updates the job that an app declares in code, looked up by its name.

Two labels record which app declared the job and what it declared: a digest of the schedule and a
digest of the other fields. A worker that restarts finds equal digests and changes nothing, so
neither versions nor ticks move. Changes made by hand stay until the declaration changes. Two
workers that start at the same time write the same job: the second finds what the first wrote.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from hashlib import blake2b
from typing import Final, NamedTuple
from uuid import UUID

from rota.contract.job_values import JOB_DEFAULTS, OWN_FIELDS, read_spec_values
from rota.core.errors import Conflict, NameTaken, VersionChanged
from rota.core.manifest.declaration import APP_LABEL
from rota.core.overlap import WhenQueuePaused
from rota.core.submissions import JobSpec, encode_canonical
from rota.core.time.calendars import Calendar
from rota.engine.submission.drafts import limits_text, policy_text
from rota.engine.submission.job_changes import KEEP, JobChanges, edit_job
from rota.engine.submission.job_submission import define_jobs
from rota.store import interning, job_views
from rota.store.driver import Connection
from rota.store.job_views import JobFilter, JobRow
from rota.store.transaction import transaction

DIGEST_LABEL: Final = "rota.declared"
# A new run raises the version of its job too, so one try may not be enough.
DECLARE_TRIES_MAX: Final = 10
# The fields that an edit of a declared job does not copy from the declaration.
FIELDS_NOT_COPIED: Final = frozenset({"name", "schedule"})
# The fields that a digest stores by name. Of all other fields it stores the values only.
NEWER_FIELDS: Final = tuple(
    name
    for name in OWN_FIELDS
    if name
    not in {
        *("name", "kind", "queue", "payload", "priority", "overlap", "keep_first", "limits"),
        *("labels", "user_id", "graph", "when_queue_paused", "schedule"),
    }
)
# A page scans 10,000 jobs. With more one-time jobs than this, the log may miss a line.
SCANNED_PAGES_MAX: Final = 10
SCANNED_PAGE_SIZE: Final = 200


class DeclarationAction(StrEnum):
    CREATED = "made"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclarationContext:
    """The time of a declaration, the source of new ids and the calendars of the tenant."""

    now: datetime
    new_id: Callable[[], UUID]
    calendars: Mapping[str, Calendar]


class DeclarationResult(NamedTuple):
    """What was done with a declared job, and the job before that; None for a new job."""

    action: DeclarationAction
    before: JobRow | None


async def declare(
    conn: Connection, spec: JobSpec, *, app: str, context: DeclarationContext
) -> DeclarationResult:
    """Create or update the job with this name. The caller writes the audit log."""
    spec = replace(
        spec, labels={**spec.labels, APP_LABEL: app, DIGEST_LABEL: digest_declaration(spec)}
    )
    tenant_id = (await interning.find_tenant_ids(conn, [spec.tenant]))[spec.tenant]
    for _ in range(DECLARE_TRIES_MAX):
        stored = await job_views.get_job_by_name(conn, tenant_id=tenant_id, name=spec.display_name)
        try:
            # A savepoint: if another caller takes the name now, the outer transaction survives.
            async with transaction(conn):
                return DeclarationResult(await _write(conn, spec, stored, context), stored)
        except (NameTaken, VersionChanged):
            continue
    reason = f"it changed during each of {DECLARE_TRIES_MAX} tries to update it; try again"
    raise Conflict(f"job {spec.name!r}", reason, 5.0)


async def find_undeclared_jobs(
    conn: Connection, *, tenant_id: int, app: str, names: frozenset[str]
) -> list[str]:
    """Return the names of active jobs that the app declared earlier and no longer declares."""
    names_found: list[str] = []
    after = None
    for _ in range(SCANNED_PAGES_MAX):
        page = await job_views.list_jobs(
            conn,
            tenant_id=tenant_id,
            filter=JobFilter(label=(APP_LABEL, app)),
            after=after,
            limit=SCANNED_PAGE_SIZE,
        )
        names_found += [
            row.name for row in page.rows if row.name not in names and row.next_tick_at is not None
        ]
        after = page.after
        if after is None:
            break
    return sorted(names_found)


def digest_declaration(spec: JobSpec) -> str:
    """Return the digest of a declaration: one part for the schedule, one for the other fields."""
    rest = [
        *(spec.kind, spec.queue, spec.payload, policy_text(spec.policy), spec.priority),
        *(spec.overlap.value, spec.keep_first, limits_text(spec.limits)),
        *(dict(spec.labels), spec.user_id),
    ]
    if spec.graph is not None:
        rest.append(spec.graph)
    # A field that a later release added is left out while it has its default. So the digest of an
    # older declaration stays the same.
    if spec.when_queue_paused is not WhenQueuePaused.SKIP:
        rest.append(spec.when_queue_paused.value)
    values = read_spec_values(spec)
    newer = {name: values[name] for name in NEWER_FIELDS if values[name] != JOB_DEFAULTS[name]}
    if newer:
        rest.append(newer)
    return f"{_hash_short(spec.schedule)}.{_hash_short(rest)}"


def _hash_short(value: object) -> str:
    return blake2b(encode_canonical(value).encode(), digest_size=8).hexdigest()


async def _write(
    conn: Connection, spec: JobSpec, found: JobRow | None, moment: DeclarationContext
) -> DeclarationAction:
    if found is None:
        await define_jobs(
            conn, [spec], now=moment.now, new_id=moment.new_id, calendars=moment.calendars
        )
        return DeclarationAction.CREATED
    labels = json.loads(found.labels)
    if labels.get(APP_LABEL) != spec.labels[APP_LABEL]:
        owner = (
            f"app {labels[APP_LABEL]!r} declares it"
            if APP_LABEL in labels
            else "no app declares it"
        )
        remedy = "give the declared job another `name`, or delete the existing job"
        raise Conflict(
            f"job {spec.name!r}", f"a job with this name already exists and {owner}; {remedy}"
        )
    before, wanted = str(labels.get(DIGEST_LABEL, "")), spec.labels[DIGEST_LABEL]
    if before == wanted:
        return DeclarationAction.UNCHANGED
    same_schedule = before.partition(".")[0] == wanted.partition(".")[0]
    await edit_job(
        conn,
        found.id,
        JobChanges(
            **{name: getattr(spec, name) for name in OWN_FIELDS if name not in FIELDS_NOT_COPIED},
            schedule=KEEP if same_schedule else spec.schedule,
            policy=spec.policy,
        ),
        now=moment.now,
        calendars=moment.calendars,
        version=found.version,
    )
    return DeclarationAction.CHANGED
