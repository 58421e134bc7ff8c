"""Fills the hot tables for a benchmark, in SQL, as fast as the server can."""

from uuid import UUID

from rota.store.driver import Connection

# An id that begins with its time, like those that core makes; the tail is random.
_ID = """
(lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0')
 || '7' || substr(md5({salt}), 1, 3) || '8' || substr(md5({salt}), 4, 15))::uuid
"""
_RUN_ID = _ID.format(salt="n::text || 'run'")
_JOB_ID = _ID.format(salt="n::text || 'job'")


async def clear(conn: Connection) -> None:
    await conn.execute("truncate rota.live_runs, rota.runs, rota.cursors")


async def settle(conn: Connection, *tables: str) -> None:
    """Bring the tables into the state of a server that has been up for a while."""
    for table in tables:
        await conn.execute(f"vacuum (analyze) rota.{table}")
    await conn.execute("checkpoint")


async def fill_queue(conn: Connection, *, runs: int, tenants: int) -> None:
    """Runs that wait in queue 1, of as many jobs made one after the other, over the tenants."""
    await conn.execute(
        f"""
        insert into rota.live_runs (
            id, job_id, scheduled_at, due_at, ready_at, created_at, tenant_id, queue_id,
            kind_id, policy_id, job_version, state, trigger, priority, guarantee
        )
        select {_RUN_ID}, {_JOB_ID}, at, at, at, at, n % $2 + 1, 1, 1, 1, 1,
            'queued', 'tick', 5, 'at_least_once'
        from (
            select n, now() - interval '1 hour' + n * interval '20 microseconds' as at
            from generate_series(1, $1) as n
        ) as numbered
        """,
        runs,
        tenants,
    )
    await settle(conn, "live_runs")


async def fill_schedule(conn: Connection, *, jobs: int) -> None:
    """Cursors of jobs that are due in random order within the hour, over all shards.

    Only cursors: a fire reads and writes no row of the jobs table.
    """
    await conn.execute(
        """
        insert into rota.cursors (
            job_id, tick_at, fire_at, version, tenant_id, queue_id, kind_id, policy_id,
            overlap, shard, priority, guarantee
        )
        select md5(n::text || 'job')::uuid, at, at, 1, n % 1000 + 1, 1, 1, 1, 'allow',
            (n::bigint * 7919) % 128, 5, 'at_least_once'
        from (
            select n, date_trunc('second', now()) + floor(random() * 3600) * interval '1 s' as at
            from generate_series(1, $1) as n
        ) as numbered
        """,
        jobs,
    )
    await settle(conn, "cursors")


async def take_all_shards(conn: Connection, owner: UUID) -> dict[int, int]:
    rows = await conn.fetch(
        "update rota.shards set owner = $1, epoch = epoch + 1,"
        " expires_at = 'infinity' returning id, epoch",
        owner,
    )
    return {row[0]: row[1] for row in rows}
