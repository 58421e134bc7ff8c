"""The real API on a real socket inside the test's process, and people with keys who call it."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import aiohttp

from rota.config.database import DatabaseSettings
from rota.config.observe import ObserveSettings
from rota.config.settings import ApiSettings, Settings
from rota.core import api_keys
from rota.core.access import Role
from rota.core.ids import build_id
from rota.engine.observability.meter import Meter
from rota.engine.observability.tracing import TraceWriter
from rota.processes.api import open_api
from rota.processes.observe import (
    build_collector,
    build_heartbeat_tier,
    build_metrics_endpoint,
    serve_observability,
)
from rota.runtime.clock import SystemClock
from rota.runtime.database_clock import DatabaseClock
from rota.runtime.observe_listener import build_probes
from rota.runtime.process_health import ProcessHealth
from rota.runtime.service import ServiceContext, Stop, run_tiers
from rota.runtime.watchdog import Watchdog
from rota.store import keys, tenants
from rota.store.driver import Connection
from rota.store.keys import NewKey
from rota.store.pool import DatabaseAccess, open_connection

CLOCK = SystemClock()


class Answer(NamedTuple):
    """What came back; `json` is None if there was no JSON in it."""

    status: int
    json: Any
    headers: Any
    text: str


@dataclass(kw_only=True)
class Caller:
    """Somebody with a key, or without one."""

    session: aiohttp.ClientSession
    url: str
    key: str | None

    async def call(
        self, method: str, path: str, json: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        given = dict(headers or {})
        if self.key is not None:
            given["Authorization"] = f"Bearer {self.key}"
        async with self.session.request(
            method, f"{self.url}{path}", json=json, headers=given
        ) as response:
            text = await response.text()
            has_json = "json" in response.headers.get("content-type", "")
            body = await response.json(content_type=None) if has_json and text else None
            return Answer(response.status, body, response.headers, text)

    async def get(self, path: str, **headers: str) -> Answer:
        return await self.call("GET", path, headers=headers)

    async def post(self, path: str, json: Any = None, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.call("POST", path, json, named)

    async def put(self, path: str, json: Any = None, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.call("PUT", path, json, named)

    async def delete(self, path: str) -> Answer:
        return await self.call("DELETE", path)


@dataclass(kw_only=True)
class Served:
    """An API that answers. `platform` has the first key, which the start made."""

    url: str
    observe_url: str | None
    access: DatabaseAccess
    conn: Connection
    session: aiohttp.ClientSession
    platform: Caller
    stop: Stop
    events: list[Any]
    database_clock: DatabaseClock

    async def tenant(self, name: str) -> int:
        return (await tenants.create_tenant(self.conn, name=name)).id

    async def caller(self, role: str, *, tenant_id: int = 1, **given: Any) -> Caller:
        """Somebody with a new key of this role."""
        made = api_keys.create_key(os.urandom(32))
        new = NewKey(
            id=build_id(CLOCK.now(), os.urandom(10)),
            tenant_id=tenant_id,
            name=f"a {role}",
            role=Role(role),
            key=made,
            **given,
        )
        await keys.create_key(self.conn, new)
        return Caller(session=self.session, url=self.url, key=made.text)

    def stranger(self, key: str | None = None) -> Caller:
        return Caller(session=self.session, url=self.url, key=key)

    def stranger_at(self, url: str) -> Caller:
        """Somebody without a key at another address, such as that of the probes."""
        return Caller(session=self.session, url=url, key=None)


@asynccontextmanager
async def serving(
    database: str,
    folder: Path,
    *,
    traces: TraceWriter | None = None,
    clock: SystemClock = CLOCK,
    observe: ObserveSettings | None = None,
    **api: Any,
) -> AsyncIterator[Served]:
    """The API on a free port, until the block is left; `clock` is that of its machine. `observe` is
    where its probes and metrics are. Default: on a free port.
    """
    events: list[Any] = []
    stop = Stop()
    master = folder / "master.key"
    master.write_text("42" * 32)
    usual: dict[str, Any] = {"requests_per_second": 100_000, "burst": 100_000}
    usual |= {"unknown_per_second": 100_000, "master_key": master}
    settings = Settings(
        api=ApiSettings(port=0, **usual | api),
        database=DatabaseSettings(url=database, data=folder),
        observe=observe or ObserveSettings(),
    )
    access = DatabaseAccess(url=database)
    async with AsyncExitStack() as stack:
        watchdog = stack.enter_context(Watchdog())
        database_clock, meter = DatabaseClock(clock), Meter()
        health = ProcessHealth(
            monotonic=clock.monotonic,
            is_stopping=stop.drain.is_set,
            watchdog_silence=lambda: watchdog.silent_s,
            database_seen_at=lambda: database_clock.offset.answered_at,
        )
        meter.add_collector(build_collector("api", health))
        endpoints = build_probes(health) | {"/metrics": build_metrics_endpoint(meter)}
        serve = serve_observability(settings.observe, endpoints)
        health.observe_url = stack.enter_context(serve)

        def emit(event: Any) -> None:
            events.append(event)
            meter(event)

        ground = ServiceContext(
            clock=clock,
            emit=emit,
            rng=Random(),
            watchdog=watchdog,
            database_clock=database_clock,
            health=health,
        )
        opened = await stack.enter_async_context(
            open_api(settings, access, ground, meter, traces=traces, endpoints=endpoints)
        )
        health.mark_started()
        tiers = [*opened.tiers, build_heartbeat_tier(ground)]
        node = asyncio.create_task(run_tiers(tiers, stop, ground))
        session = await stack.enter_async_context(aiohttp.ClientSession())
        conn = await stack.enter_async_context(open_connection(access))
        key = (folder / "admin.key").read_text().strip()
        try:
            yield Served(
                url=opened.url,
                observe_url=opened.observe_url,
                access=access,
                conn=conn,
                session=session,
                platform=Caller(session=session, url=opened.url, key=key),
                stop=stop,
                events=events,
                database_clock=ground.database_clock,
            )
        finally:
            # A second request would cancel what is under way.
            if not stop.drain.is_set():
                stop.request()
            await node
