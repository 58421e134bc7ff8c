"""How far a source was read is shown by the API and by the command, to its own tenant only (S7)."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from tests.support.serving import Caller, Served, serving

from rota.store import event_sources, tenants
from rota.store.event_sources import SourceProgress, SourceReaderId

TTL = timedelta(minutes=5)
ROTA = Path(sys.executable).with_name("rota")


@pytest.fixture
async def api(database: str, tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(database, tmp_path) as served:
        yield served


async def read(api: Served, name: str, *, tenant_id: int = 1, error: str | None = None) -> None:
    """A process has read this source, and perhaps failed."""
    reader = SourceReaderId(tenant_id=tenant_id, name=name, owner=uuid4())
    held = await event_sources.lease_source(
        api.conn, reader, kind="nats", reader_name="node:1", ttl=TTL
    )
    assert held is not None
    await event_sources.store_progress(
        api.conn, held, SourceProgress(position="7", taken=7, lag=2), ttl=TTL
    )
    if error is not None:
        await event_sources.store_error(api.conn, held, error)


async def command(caller: Caller, *arguments: str) -> str:
    settings = {"ROTA_URL": caller.url, "ROTA_API_KEY": caller.key or "", "COLUMNS": "200"}
    child = await asyncio.create_subprocess_exec(
        ROTA, *arguments, env={**os.environ, **settings}, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await child.communicate()
    assert child.returncode == 0
    return printed.decode()


async def test_a_tenant_sees_its_own_sources_and_what_is_wrong_with_them(api: Served) -> None:
    other = await api.tenant("other")
    await read(api, "orders")
    await read(api, "uploads", error="it did not answer in time")
    await read(api, "theirs", tenant_id=other)
    viewer = await api.caller("viewer")

    answer = await viewer.get("/v1/sources")
    shown = await command(viewer, "sources", "list")
    told = json.loads(await command(viewer, "sources", "list", "--json"))

    orders, uploads = answer.json["data"]
    assert (orders["name"], orders["state"], orders["reader"]) == ("orders", "reading", "node:1")
    assert (orders["position"], orders["taken"], orders["lag"]) == ("7", 7, 2)
    assert (uploads["state"], uploads["failures"], uploads["reader"]) == ("failing", 1, None)
    assert uploads["error"] == "it did not answer in time"
    assert "it did not answer in time" in shown
    assert "theirs" not in shown
    assert [each["name"] for each in told] == ["orders", "uploads"]


async def test_a_tenant_that_is_deleted_takes_its_sources_along(api: Served) -> None:
    gone = await api.tenant("gone")
    await read(api, "orders", tenant_id=gone)

    await tenants.delete_tenant(api.conn, gone)

    assert await event_sources.list_sources(api.conn, tenant_id=gone) == []


async def test_a_process_whose_source_is_set_up_wrongly_does_not_start(tmp_path: Path) -> None:
    settings = {
        "PATH": os.environ["PATH"],
        "ROTA_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
        "ROTA_SOURCES": '{orders = {kind = "folder"}}',
    }
    child = await asyncio.create_subprocess_exec(
        ROTA, "scheduler", env=settings, cwd=tmp_path, stderr=asyncio.subprocess.PIPE
    )
    _, said = await child.communicate()

    assert child.returncode == 64
    assert said.decode().count("\n") == 1
    assert "sources.orders.options.path" in said.decode()
