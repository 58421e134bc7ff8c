"""Keys, secrets that are shown once, logins, quotas, and what database logins may do."""

import asyncio
import stat
from typing import Any

import asyncpg

from rota.store.embedded import start
from tests.attack.attacks import Findings, attack
from tests.attack.target import CLOCK, Target
from tests.support.serving import Answer

TRIES = range(120)
# Text, JSON and bytes: wherever a secret could have been written.
COLUMNS = """
select table_schema, table_name, column_name
from information_schema.columns
where table_schema = 'rota' and data_type in ('text', 'json', 'jsonb', 'bytea', 'character varying')
"""


@attack("shown-once")
async def look_for_secrets_in_tables(target: Target, findings: Findings) -> None:
    """Keys and hook secrets that were shown once are nowhere in the database."""
    shown: list[str] = []
    for number, (path, body, field) in enumerate(
        (
            ("/v1/keys", {"name": "shown", "role": "viewer"}, "key"),
            ("/v1/hooks", {"name": "shown", "type": "a.b"}, "secret"),
            ("/v1/login-tickets", None, "ticket"),
        )
    ):
        headers = {"Idempotency-Key": f"shown-{number}"}
        first = await target.victim.admin.call("POST", path, body, headers)
        again = await target.victim.admin.call("POST", path, body, headers)
        findings.expect(first.status == 201, f"{path}: {first.text[:200]}")
        shown.append(first.json[field])
        findings.expect(first.json[field] not in again.text, f"{path} shows its secret twice")
        findings.expect(again.status == 409, f"{path}: a repeat answered {again.status}")
    for place in await search_tables(target, shown):
        findings.broken.append(f"a secret is in the clear in {place}")
    findings.tried += 1


async def search_tables(target: Target, texts: list[str]) -> list[str]:
    """Columns that hold one of these texts."""
    async with connect(target) as conn:
        found = []
        for schema, table, column in await conn.fetch(COLUMNS):
            for text in texts:
                count = await conn.fetchval(
                    f'select count(*) from {schema}."{table}" '
                    f'where position($1 in "{column}"::text) > 0 or '
                    f'position($2 in "{column}"::text) > 0',
                    text,
                    text.encode().hex(),
                )
                if count:
                    found.append(f"{table}.{column}")
        return found


class connect:  # noqa: N801
    """A connection with the login that processes of the installation use."""

    def __init__(self, target: Target) -> None:
        self._embedded: Any = start(target.folder / ".rota")

    async def __aenter__(self) -> Any:
        self._opened = await asyncio.to_thread(self._embedded.__enter__)
        self._conn = await asyncpg.connect(self._opened.url)
        return self._conn

    async def __aexit__(self, *error: object) -> None:
        await self._conn.close()
        await asyncio.to_thread(self._embedded.__exit__, None, None, None)


@attack("database-login")
async def use_the_database_login(target: Target, findings: Findings) -> None:
    """The login of the embedded server runs no programs; a worker's login makes no keys."""
    async with connect(target) as conn:
        is_super = await conn.fetchval("select rolsuper from pg_roles where rolname = current_user")
        findings.expect(not is_super, "the login of the embedded server is a superuser")
        await expect_refused(
            conn,
            findings,
            "copy pg_temp.x from program 'id'",
            before="create temp table x (line text)",
        )
        roles = [row["rolname"] for row in await conn.fetch("select rolname from pg_roles")]
        findings.expect("rota_worker" in roles, f"there is no role for workers: {roles}")
        if "rota_worker" not in roles:
            return
        await conn.execute("set role rota_worker")
        for statement in (
            "select * from rota.api_keys",
            "insert into rota.api_keys select * from rota.api_keys",
            "update rota.tenants set name = 'mine'",
            "insert into rota.tenants (name) values ('mine')",
            "delete from rota.audit",
            "update rota.audit set actor = 'nobody'",
            "create table rota.mine (a int)",
            "select * from rota.idempotency",
        ):
            await expect_refused(conn, findings, statement)


async def expect_refused(conn: Any, findings: Findings, statement: str, before: str = "") -> None:
    try:
        async with conn.transaction():
            if before:
                await conn.execute(before)
            await conn.execute(statement)
    except asyncpg.InsufficientPrivilegeError:
        findings.tried += 1
        return
    except asyncpg.PostgresError as error:
        findings.expect(False, f"{statement}: refused for another reason: {error}")
        return
    findings.expect(False, f"{statement}: was carried out")


@attack("bootstrap-key")
async def read_the_bootstrap_key(target: Target, findings: Findings) -> None:
    """The first key is in a file for its owner only, in no log, and it expires."""
    file = target.folder / ".rota" / "admin.key"
    key = file.read_text().strip()
    findings.expect(key not in target.log, "the log has the key")
    findings.expect(stat.S_IMODE(file.stat().st_mode) & 0o077 == 0, "others may read the file")
    who = (await target.platform.get("/v1/whoami")).json
    findings.expect(who["expires_at"] is not None, "it never expires")


@attack("growth")
async def grow_without_bound(target: Target, findings: Findings) -> None:
    """Tickets, hooks, queue names, kinds and limit keys are bounded by quotas."""
    tickets = [(await target.intruder.viewer.post("/v1/login-tickets")).status for _ in range(200)]
    findings.figures.append(f"{tickets.count(201)} of 200 login tickets were made")
    findings.expect(tickets.count(429) > 0, "login tickets are not limited")
    quotas = {"max_hooks": 50, "max_queues": 50, "max_kinds": 50, "max_limit_keys": 50}
    path = f"/v1/tenants/{target.intruder.id}"
    changed = await target.platform.call("PATCH", path, {"quotas": quotas})
    findings.expect(changed.status == 200, f"quotas were not set: {changed.text}")
    hook = {"type": "a.b"}
    count_granted(
        findings,
        "hooks",
        [await target.intruder.admin.post("/v1/hooks", hook | {"name": f"h{n}"}) for n in TRIES],
    )
    for field in ("queue", "kind", "limit"):
        jobs = [await target.intruder.operator.post("/v1/jobs", job_with(field, n)) for n in TRIES]
        count_granted(findings, f"names of a {field}", jobs)
    await target.platform.call("PATCH", path, {"quotas": {}})


def count_granted(findings: Findings, what: str, answers: list[Answer]) -> None:
    granted = sum(answer.status < 300 for answer in answers)
    findings.figures.append(f"{granted} of {len(answers)} {what} were made with a quota of 50")
    findings.expect(granted <= 50, f"{granted} {what} were made with a quota of 50")
    findings.expect(all(answer.status < 500 for answer in answers), f"{what}: a request failed")


def job_with(field: str, number: int) -> dict[str, Any]:
    job: dict[str, Any] = {"kind": "attack.wait", "payload": {}, "schedule": {"cron": "0 0 1 1 *"}}
    job["name"] = f"{field} {number}"
    if field == "limit":
        job["limits"] = [{"key": f"key-{number}", "max": 1}]
    else:
        job[field] = f"grown-{number}"
    return job


@attack("roles-of-keys")
async def grant_more_than_one_has(target: Target, findings: Findings) -> None:
    """Nobody makes a key above their own role, and a revoked key ends."""
    for caller, role in (
        (target.intruder.viewer, "viewer"),
        (target.intruder.operator, "operator"),
        (target.intruder.admin, "platform"),
    ):
        made = await caller.post("/v1/keys", {"name": "more", "role": role})
        findings.expect(made.status == 403, f"a key of the role {role}: {made.status}")
    made = await target.intruder.admin.post("/v1/keys", {"name": "short", "role": "viewer"})
    await target.intruder.admin.delete(f"/v1/keys/{made.json['key_id']}")
    short = type(target.nobody)(session=target.session, url=target.url, key=made.json["key"])
    status = 200
    for _ in range(100):
        status = (await short.get("/v1/whoami")).status
        if status == 401:
            break
        await CLOCK.sleep(0.1)
    findings.expect(status == 401, "a revoked key is still valid after 10 s")
