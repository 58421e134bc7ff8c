"""A job that says all it knows, in the three ways in which Python runs jobs; and a search for what
it said in everything that a database keeps.
"""

import logging
import os
import sys
from typing import Any

import rota
from rota.core.secret_encryption import NONCE_BYTES
from rota.executors.python import PythonExecutor
from rota.store import encrypted_secrets
from rota.store.driver import Connection

MASTER = bytes(range(32))

on_loop = rota.App("tell")
in_thread = rota.App("tell")
in_child = rota.App("tell")


@on_loop.job(kind="on_loop")
async def tell_on_loop(ctx: rota.Context, token: str, then: str = "return") -> Any:
    ctx.progress(0.5, f"halfway with {token}")
    return tell(token, then)


@in_thread.job(kind="in_thread")
def tell_in_thread(ctx: rota.SyncContext, token: str, then: str = "return") -> Any:
    ctx.progress(0.5, f"halfway with {token}")
    return tell(token, then)


@in_child.job(kind="in_child", isolation="process")
def tell_in_child(ctx: rota.SyncContext, token: str, then: str = "return") -> Any:
    ctx.progress(0.5, f"halfway with {token}")
    return tell(token, then)


def tell(token: str, then: str) -> Any:
    print(f"printed {token}")  # noqa: T201 — its output is looked at
    half = len(token) // 2
    sys.stderr.write(f"written {token[:half]}")
    sys.stderr.write(f"{token[half:]} in two pieces\n")
    logging.getLogger("tests").warning("logged %s", token)
    match then:
        case "fail":
            raise rota.Fail(f"failed with {token}")
        case "raise":
            raise ValueError(f"raised with {token}")
        case _:
            return {"returned": token, "nested": [{token: f"a {token} b"}]}


def executor(name: str) -> PythonExecutor:
    app = {"on_loop": on_loop, "in_thread": in_thread, "in_child": in_child}[name]
    return PythonExecutor(app.handlers, source=f"tests.support.secret_jobs:{name}.handlers")


async def put(conn: Connection, name: str, value: str, *, tenant_id: int = 1) -> None:
    await encrypted_secrets.put_secret(
        conn,
        tenant_id=tenant_id,
        name=name,
        value=value.encode(),
        master=MASTER,
        nonce=os.urandom(NONCE_BYTES),
    )


async def dumped(conn: Connection) -> str:
    """Every row of every table, as text; bytes are shown as hexadecimal digits and as they are."""
    tables = await conn.fetch(
        "select format('%I.%I', schemaname, tablename) from pg_tables where schemaname = 'rota'"
    )
    rows = [
        row[0]
        for table in tables
        for row in await conn.fetch(f"select t::text from {table[0]} as t")
    ]
    assert rows
    chunks = await conn.fetch("select chunk from rota.run_logs")
    return "\n".join([*rows, *(row[0].decode(errors="replace") for row in chunks)])


def held(text: str, value: str) -> bool:
    """Whether a text holds a value, as it is or in bytes that are shown as digits."""
    return value in text or value.encode().hex() in text
