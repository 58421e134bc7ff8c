"""Runs of one task in bulk, and what SQL says about them."""

from datetime import datetime
from typing import Any, Final

from rota.store.driver import Connection

# A busy machine must write so many within the time that a statement may take.
ROWS_AT_ONCE: Final = 10_000
# Ids begin with the time at which a run was due, as those of submissions do.
_ID: Final = """
(
    lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0')
    || '7' || substr(replace(gen_random_uuid()::text, '-', ''), 14)
)::uuid
"""
ENDED: Final = f"""
insert into rota.runs (
    id, job_id, scheduled_at, due_at, created_at, started_at, finished_at, tenant_id, queue_id,
    kind_id, policy_id, job_version, state, left_state, trigger, priority, attempt, reason
)
select
    id, id, at, at, at,
    at + n % 40 * interval '25 ms',
    at + n % 40 * interval '25 ms' + (1 + n % 300) * interval '20 ms',
    $1, $2, $3, 1, 1,
    case when n % 50 = 7 then 'dead' else 'succeeded' end::rota.run_state, 'running', 'api', 5, 1,
    case when n % 50 = 7
        then jsonb_build_object('type', 'Refused', 'message', 'card ' || n || ' was refused')
    end
from generate_series($4::integer, $5::integer) as n
cross join lateral (select $6::timestamptz - n * $7::interval as at) as due
cross join lateral (select {_ID} as id) as made
"""
WAITING: Final = f"""
insert into rota.live_runs (
    id, job_id, scheduled_at, due_at, ready_at, created_at, tenant_id, queue_id, kind_id,
    policy_id, job_version, state, trigger, priority, guarantee
)
select
    id, id, at, at, at, at, $1, $2, $3, 1, 1, 'queued', 'api', 5, 'at_least_once'
from generate_series($4::integer, $5::integer) as n
cross join lateral (select $6::timestamptz - n * interval '1 ms' as at) as due
cross join lateral (select {_ID} as id) as made
"""
SCHEDULED: Final = f"""
insert into rota.scheduled_runs (
    tenant_id, id, shard, due_at, queue_id, kind_id, policy_id, priority, guarantee
)
select $1, id, n % 128, at, $2, $3, 1, 5, 'at_least_once'
from generate_series($4::integer, $5::integer) as n
cross join lateral (
    select $6::timestamptz + interval '7 days' + n * interval '1 s' as at
) as due
cross join lateral (select {_ID} as id) as made
"""


async def name_task(conn: Connection, kind: str, *, tenant_id: int = 1) -> tuple[int, int]:
    """Return the ids of the tenant's default queue and of a kind that its submissions named."""
    queue_id: int = await conn.fetchval(
        "insert into rota.queues (name) values ('default')"
        " on conflict (name) do update set name = excluded.name returning id"
    )
    await conn.execute(
        "insert into rota.tenant_queues (tenant_id, queue_id) values ($1, $2)"
        " on conflict do nothing",
        tenant_id,
        queue_id,
    )
    kind_id: int = await conn.fetchval(
        "insert into rota.kinds (name) values ($1)"
        " on conflict (name) do update set name = excluded.name returning id",
        kind,
    )
    return queue_id, kind_id


async def insert_task_runs(
    conn: Connection,
    kind: str,
    *,
    now: datetime,
    ended: int = 0,
    waiting: int = 0,
    scheduled: int = 0,
    tenant_id: int = 1,
    apart: str = "10 s",
) -> None:
    """Write submissions of a kind, without a worker that touches them; those that ended were due
    `apart` from each other, up to now.
    """
    queue_id, kind_id = await name_task(conn, kind, tenant_id=tenant_id)
    place: tuple[Any, ...] = (tenant_id, queue_id, kind_id)
    everything = (
        (ENDED.replace("$7::interval", f"interval '{apart}'"), ended),
        (WAITING, waiting),
        (SCHEDULED, scheduled),
    )
    for sql, number in everything:
        for first in range(1, number + 1, ROWS_AT_ONCE):
            last = min(first + ROWS_AT_ONCE - 1, number)
            await conn.execute(sql, *place, first, last, now)
