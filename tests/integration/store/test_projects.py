"""The jobs of a project are found among however many a tenant has."""

from rota.store import projects
from rota.store.driver import Connection
from rota.store.pool import DatabaseAccess, open_connection
from rota.store.projects import MEMBERS
from rota.store.row_level_security import tenant_scope

FILL = """
    insert into rota.jobs (id, tenant_id, name, kind_id, queue_id, policy_id, labels)
    select
        md5(n::text)::uuid, 1 + n % 2, n::text, 1, 1, 1,
        case when n % 1000 < 2 then '{"rota.project": "p"}' else '{"team": "a"}' end::jsonb
    from generate_series(1, 20000) as n
"""


async def plan_of(conn: Connection) -> str:
    rows = await conn.fetch(f"explain {MEMBERS.text}", 1, "p")
    return "\n".join(row[0] for row in rows)


async def test_members_are_found_by_their_own_index_also_behind_the_wall(database: str) -> None:
    async with open_connection(DatabaseAccess(url=database)) as conn:
        await conn.execute(FILL)
        await conn.execute("analyze rota.jobs")

        assert "jobs_of_project" in await plan_of(conn)
        async with tenant_scope(conn, 1):
            assert "jobs_of_project" in await plan_of(conn)
            assert len(await projects.find_members(conn, tenant_id=1, project="p")) == 20
            assert await projects.find_members(conn, tenant_id=2, project="p") == []
