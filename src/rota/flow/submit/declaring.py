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
from typing import Final
from uuid import UUID

from rota.core.errors import Conflict, NameTaken, VersionChanged
from rota.core.overlap import WhenQueuePaused
from rota.core.submission import JobSpec, canonical
from rota.core.time.calendars import Calendar
from rota.flow.submit.changing import KEEP, Edit, edit
from rota.flow.submit.drafting import limits_text, policy_text
from rota.flow.submit.submitting import submit
from rota.store import job_views, names
from rota.store.driver import Connection
from rota.store.job_views import JobFilter, JobRow
from rota.store.transaction import transaction

APP: Final = "rota.app"
DIGEST: Final = "rota.declared"
# A run that is placed raises the version, too, so one try may not be enough.
TRIES: Final = 10
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


async def declare(conn: Connection, spec: JobSpec, *, app: str, moment: Moment) -> Deed:
    """Have the job of this name be as it is declared."""
    spec = replace(spec, labels={**spec.labels, APP: app, DIGEST: digest(spec)})
    tenant_id = (await names.tenant_ids(conn, [spec.tenant]))[spec.tenant]
    for _ in range(TRIES):
        found = await job_views.by_name(conn, tenant_id=tenant_id, name=spec.name)
        try:
            # By itself: a name that somebody else takes at this moment must not spoil the rest.
            async with transaction(conn):
                return await _write(conn, spec, found, moment)
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
    # What is as usual is left out, so that what was declared before it could be said is the same.
    if spec.when_queue_paused is not WhenQueuePaused.SKIP:
        rest.append(spec.when_queue_paused.value)
    return f"{_short(spec.schedule)}.{_short(rest)}"


def _short(value: object) -> str:
    return blake2b(canonical(value).encode(), digest_size=8).hexdigest()


async def _write(conn: Connection, spec: JobSpec, found: JobRow | None, moment: Moment) -> Deed:
    if found is None:
        await submit(conn, [spec], now=moment.now, new_id=moment.new_id, calendars=moment.calendars)
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
            schedule=KEEP if same_schedule else spec.schedule,
            payload=spec.payload,
            policy=spec.policy,
            kind=spec.kind,
            graph=spec.graph,
            queue=spec.queue,
            priority=spec.priority,
            overlap=spec.overlap,
            keep_first=spec.keep_first,
            when_queue_paused=spec.when_queue_paused,
            limits=spec.limits,
            labels=spec.labels,
            user_id=spec.user_id,
        ),
        now=moment.now,
        calendars=moment.calendars,
        version=found.version,
    )
    return Deed.CHANGED
