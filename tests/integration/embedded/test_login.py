"""The login of the embedded server owns the databases and is no superuser (T1)."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.embedded.conftest import ask, await_stop
from tests.upgrade.previous import ROOT, previous_release

from rota.store.embedded import start

FORBIDDEN = (
    "copy (select 1) to program 'cat'",
    "copy pg_class from program 'id'",
    "copy (select 1) to '/tmp/rota-login'",
    "select pg_read_file('/etc/passwd')",
    "alter system set work_mem = '1MB'",
    "alter role rota superuser",
    "grant pg_execute_server_program to rota",
    "set session authorization rota_superuser",
    "set role rota_superuser",
    "alter role rota_superuser login",
)
WHO = "select rolsuper or rolbypassrls or rolreplication from pg_roles where rolname = current_user"
# What somebody may have made with the login of an earlier release, whose superuser it was.
OLD = """
import sys
from pathlib import Path
import asyncio, asyncpg
from rota.store.embedded import start
from rota.store.migrate import migrate

async def fill(url):
    conn = await asyncpg.connect(url)
    await migrate(conn)
    await conn.execute('''
        create schema mine;
        create table mine.orders (id integer generated always as identity, serial serial, n text);
        create view mine.seen as select n from mine.orders;
        create materialized view mine.kept as select n from mine.orders;
        create type mine.mood as enum ('well');
        create domain mine.short as text;
        create type mine.pair as (a integer, b integer);
        create function mine.one() returns integer language sql as 'select 1';
        create sequence mine.numbers;
        create table mine.days (day date) partition by range (day);
        create table mine.today partition of mine.days default;
        insert into mine.orders (n) values ('kept');
    ''')
    await conn.execute('create database shop')
    await conn.close()

with start(Path(sys.argv[1])) as server:
    asyncio.run(fill(server.url))
"""
NOT_OURS = """
select count(*) from (
    select relowner as owner from pg_class
    where oid >= 16384 and relkind in ('r', 'p', 'v', 'm', 'S')
    union all select nspowner from pg_namespace where oid >= 16384
    union all select proowner from pg_proc where oid >= 16384
    union all select typowner from pg_type where oid >= 16384
    union all select datdba from pg_database where not datistemplate
) as t where t.owner <> 'rota'::regrole
"""


def test_the_login_reaches_nothing_but_its_databases(home: Path) -> None:
    with start(home) as server:
        assert ask(server.url, WHO) is False
        for statement in FORBIDDEN:
            with pytest.raises(Exception, match="permission denied"):
                ask(server.url, statement)


def test_the_superuser_cannot_log_in(home: Path) -> None:
    with start(home) as server:
        superusers = ask(
            server.url,
            "select array_agg(rolname::text || rolcanlogin) from pg_roles where rolsuper",
        )

    assert superusers == ["rota_superuserfalse"]


def test_the_login_can_make_roles_and_databases(home: Path) -> None:
    """What docs/howto/database.md says an administrator does."""
    with start(home) as server:
        ask(server.url, "create role acme_worker login password 'x' in role rota_worker")
        ask(server.url, "alter role acme_worker set rota.tenant = '1'")
        ask(server.url, "create database other")
        ask(server.url, "drop database other")
        ask(server.url, "drop role acme_worker")


def test_a_home_of_the_previous_release_gets_another_login_and_keeps_its_data(area: Path) -> None:
    old = previous_release(area / "old")
    home = area / "old-home"
    make = [sys.executable, "-c", OLD, str(home)]
    subprocess.run(make, env=old.environment(), cwd=ROOT, check=True)
    await_stop(home)
    password = (home / "password").read_text()

    with start(home) as server:
        assert ask(server.url, WHO) is False
        assert ask(server.url, NOT_OURS) == 0
        assert ask(server.url, "select n from mine.seen") == "kept"
        ask(server.url, "insert into mine.orders (n) values ('more')")
        ask(server.url, "alter table mine.orders add column later text")
        ask(server.url.replace("/rota?", "/shop?"), "create table public.here (id integer)")
    await_stop(home)
    assert (home / "password").read_text() == password

    # The code of the previous release again: a rollback.
    look = "import sys; from pathlib import Path; from rota.store.embedded import start"
    look += "\nwith start(Path(sys.argv[1])) as server: print(server.url)"
    back = subprocess.run(
        [sys.executable, "-c", look, str(home)],
        env=old.environment(),
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    await_stop(home)
    assert f"rota:{password}@" in back.stdout
    with start(home) as server:
        assert ask(server.url, WHO) is False
        assert ask(server.url, "select count(*) from mine.orders") == 2
