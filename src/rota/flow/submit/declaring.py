"""Writes a job that code declares, by its name: it is made, changed, or found as it is.

Room: flow/submit. Two labels say which app declared a job and what it said: a digest of the
schedule and one of the rest. A worker that starts again finds its own words and changes nothing, so
neither versions nor ticks move; what people changed by hand meanwhile stays until the words change.
Two workers that start at once write the same: the second one finds what the first has written.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from hashlib import blake2b
from typing import Final, NamedTuple
from uuid import UUID

from rota.contract.job_values import DEFAULTS, OWN_FIELDS, spec_values
from rota.core.errors import Conflict, NameTaken, VersionChanged
from rota.core.overlap import WhenQueuePaused
from rota.core.submission import JobSpec, canonical
from rota.core.time.calendars import Calendar
from rota.flow.submit.changing import KEEP, Edit, edit
from rota.flow.submit.drafting import limits_text, policy_text
from rota.flow.submit.submitting import define
from rota.store import job_views, names
from rota.store.driver import Connection
from rota.store.job_views import JobFilter, JobRow
from rota.store.transaction import transaction

APP: Final = "rota.app"
DIGEST: Final = "rota.declared"
# A run that is placed raises the version, too, so one try may not be enough.
TRIES: Final = 10
# The fields that an edit of a declared job does not simply take over.
APART: Final = frozenset({"name", "schedule"})
# The fields that a digest names; it lists the values of the others.
NEWER_FIELDS: Final = tuple(
    name
    for name in OWN_FIELDS
    if name
    not in {
        *("name", "kind", "queue", "payload", "priority", "overlap", "keep_first", "limits"),
        *("labels", "user_id", "graph", "when_queue_paused", "schedule"),
    }
)
# A page looks at 10,000 jobs. Who has more one-time jobs than this may miss a line in the log.
MOST_PAGES: Final = 10
PAGE: Final = 200


class Deed(StrEnum):
    MADE = "made"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When something is declared, and what is needed for it."""

    now: datetime
    new_id: Callable[[], UUID]
    calendars: Mapping[str, Calendar]


class DeclarationResult(NamedTuple):
    """What was done with a declared job, and the job as it was before; None for a new one."""

    deed: Deed
    before: JobRow | None


async def declare(
    conn: Connection, spec: JobSpec, *, app: str, moment: Moment
) -> DeclarationResult:
    """Have the job of this name be as it is declared. The audit log is the caller's."""
    spec = replace(spec, labels={**spec.labels, APP: app, DIGEST: digest(spec)})
    tenant_id = (await names.tenant_ids(conn, [spec.tenant]))[spec.tenant]
    for _ in range(TRIES):
        found = await job_views.by_name(conn, tenant_id=tenant_id, name=spec.display_name)
        try:
            # By itself: a name that somebody else takes at this moment must not spoil the rest.
            async with transaction(conn):
                return DeclarationResult(await _write(conn, spec, found, moment), found)
        except (NameTaken, VersionChanged):
            continue
    raise Conflict(f"job {spec.name!r}", "it is changed all the time; start again", 5.0)


async def forgotten(
    conn: Connection, *, tenant_id: int, app: str, names: frozenset[str]
) -> list[str]:
    """Jobs that the app declared once and does not any more, if they go on: their names."""
    found: list[str] = []
    after = None
    for _ in range(MOST_PAGES):
        page = await job_views.page(
            conn,
            tenant_id=tenant_id,
            filter=JobFilter(label=(APP, app)),
            after=after,
            limit=PAGE,
        )
        found += [
            row.name for row in page.rows if row.name not in names and row.next_tick_at is not None
        ]
        after = page.after
        if after is None:
            break
    return sorted(found)


def digest(spec: JobSpec) -> str:
    """What is declared, in short: the schedule, and the rest."""
    rest = [
        *(spec.kind, spec.queue, spec.payload, policy_text(spec.policy), spec.priority),
        *(spec.overlap.value, spec.keep_first, limits_text(spec.limits)),
        *(dict(spec.labels), spec.user_id),
    ]
    if spec.graph is not None:
        rest.append(spec.graph)
    # A field that was added later is left out where it has its default: what was declared before
    # there was such a field stays the same.
    if spec.when_queue_paused is not WhenQueuePaused.SKIP:
        rest.append(spec.when_queue_paused.value)
    values = spec_values(spec)
    newer = {name: values[name] for name in NEWER_FIELDS if values[name] != DEFAULTS[name]}
    if newer:
        rest.append(newer)
    return f"{_short(spec.schedule)}.{_short(rest)}"


def _short(value: object) -> str:
    return blake2b(canonical(value).encode(), digest_size=8).hexdigest()


async def _write(conn: Connection, spec: JobSpec, found: JobRow | None, moment: Moment) -> Deed:
    if found is None:
        await define(conn, [spec], now=moment.now, new_id=moment.new_id, calendars=moment.calendars)
        return Deed.MADE
    labels = json.loads(found.labels)
    if labels.get(APP) != spec.labels[APP]:
        owner = f"the app {labels[APP]!r} declares it" if APP in labels else "no app declares it"
        remedy = "give the declared one another `name`, or delete that one"
        raise Conflict(
            f"job {spec.name!r}", f"there is one of this name already, {owner}; {remedy}"
        )
    before, wanted = str(labels.get(DIGEST, "")), spec.labels[DIGEST]
    if before == wanted:
        return Deed.UNCHANGED
    same_schedule = before.partition(".")[0] == wanted.partition(".")[0]
    await edit(
        conn,
        found.id,
        Edit(
            **{name: getattr(spec, name) for name in OWN_FIELDS if name not in APART},
            schedule=KEEP if same_schedule else spec.schedule,
            policy=spec.policy,
        ),
        now=moment.now,
        calendars=moment.calendars,
        version=found.version,
    )
    return Deed.CHANGED
