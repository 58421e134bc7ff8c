"""Fills a long history for a benchmark of lists, in SQL, as fast as the server can."""

from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple
from uuid import UUID, uuid4

from rota.store import interning
from rota.store.driver import Connection
from tests.bench.loads import settle

JOBS = 200_000
WAITING = 50_000
DAYS = 30
# An id that begins with its time, like those that core makes; the tail is random.
_ID = """
(lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0')
 || '7' || substr(md5(n::text || '{salt}'), 1, 3) || '8'
 || substr(md5(n::text || '{salt}'), 4, 15))::uuid
"""
_JOB = "md5((n % {jobs})::text || 'job')::uuid"


class Known(NamedTuple):
    """Some of what there is, to ask for."""

    today: date
    jobs: list[UUID]
    runs: list[UUID]
    worker: UUID


async def fill(conn: Connection, *, today: date, runs: int) -> Known:
    worker = uuid4()
    await _names(conn)
    await _jobs(conn)
    for back in range(DAYS, 0, -1):
        day = datetime(today.year, today.month, today.day, tzinfo=UTC) - timedelta(days=back)
        await _day(conn, day, runs // DAYS, worker)
        print(f"\r{DAYS - back + 1} of {DAYS} days", end="", flush=True)
    print()
    await _waiting(conn)
    await settle(conn, "jobs", "cursors", "runs", "live_runs")
    jobs = await conn.fetch("select id from rota.jobs tablesample bernoulli (1) limit 1000")
    some = await conn.fetch("select id from rota.runs tablesample bernoulli (0.1) limit 1000")
    return Known(today, [row[0] for row in jobs], [row[0] for row in some], worker)


async def _names(conn: Connection) -> None:
    for number in range(10):
        await conn.execute("insert into rota.kinds (name) values ($1)", f"kind {number}")
        await conn.execute("insert into rota.queues (name) values ($1)", f"queue {number}")
    await conn.execute("insert into rota.kinds (name) values ('rare')")
    await interning.intern_policies(conn, ["{}"])


async def _jobs(conn: Connection) -> None:
    await conn.execute(
        f"""
        insert into rota.jobs (
            id, tenant_id, name, kind_id, queue_id, policy_id, schedule, payload, labels, user_id,
            created_at
        )
        select {_JOB.format(jobs=JOBS)}, 1, 'job ' || n, k.id, q.id, p.id,
            '{{"cron": "0 2 * * *", "timezone": "UTC"}}', '{{"n": 1}}',
            jsonb_build_object('team', 't' || n % 10), 'u' || n % 10,
            now() - interval '40 days' + n * interval '1 second'
        from generate_series(1, {JOBS}) as n
        inner join rota.kinds as k on k.name = 'kind ' || n % 10
        inner join rota.queues as q on q.name = 'queue ' || n % 10
        cross join (select id from rota.policies limit 1) as p
        """
    )


async def _day(conn: Connection, day: datetime, runs: int, worker: UUID) -> None:
    await conn.execute(
        f"""
        insert into rota.runs (
            id, job_id, session_id, scheduled_at, due_at, created_at, started_at, finished_at,
            tenant_id, queue_id, kind_id, policy_id, job_version, state, left_state, trigger,
            priority, attempt, failures, reason
        )
        select {_ID.format(salt="run")}, {_JOB.format(jobs=JOBS)},
            case when n % 1000 = 0 then $3 else md5((n % 50)::text)::uuid end,
            at, at, at, at + interval '5 ms', at + interval '900 ms', 1,
            q.id, k.id, p.id, 1,
            (case when n % 100 = 0 then 'dead' when n % 211 = 0 then 'skipped'
                else 'succeeded' end)::rota.run_state,
            (case when n % 100 <> 0 and n % 211 = 0 then null else 'running' end)::rota.run_state,
            'tick', 5, 1, (n % 100 = 0)::integer,
            case when n % 100 = 0 then jsonb_build_object(
                'type', 'ConnectionError', 'message', 'host ' || n % 17 || ' did not answer')
            end
        from (
            select n, $1::timestamptz + n * (interval '1 day' / $2) as at
            from generate_series(1, $2::integer - 1) as n
        ) as numbered
        inner join rota.kinds as k
            on k.name = case when n % 300000 = 0 then 'rare' else 'kind ' || n % 10 end
        inner join rota.queues as q on q.name = 'queue ' || n % 10
        cross join (select id from rota.policies limit 1) as p
        """,
        day,
        runs,
        worker,
    )


async def _waiting(conn: Connection) -> None:
    await conn.execute(
        f"""
        insert into rota.live_runs (
            id, job_id, scheduled_at, due_at, ready_at, created_at, tenant_id, queue_id,
            kind_id, policy_id, job_version, state, trigger, priority, guarantee
        )
        select {_ID.format(salt="waits")}, {_JOB.format(jobs=JOBS)}, at, at, at, at, 1,
            q.id, k.id, p.id, 1, 'queued', 'tick', 5, 'at_least_once'
        from (
            select n, now() - interval '1 hour' + n * interval '20 milliseconds' as at
            from generate_series(1, {WAITING}) as n
        ) as numbered
        inner join rota.kinds as k on k.name = 'kind ' || n % 10
        inner join rota.queues as q on q.name = 'queue ' || n % 10
        cross join (select id from rota.policies limit 1) as p
        """
    )
