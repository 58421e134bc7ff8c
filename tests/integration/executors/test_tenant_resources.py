"""A worker opens each of its resources to the tenants that its settings name, and to no others."""

import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from aiohttp import web
from tests.support.shop import Shop, open_shop

from rota.config.loader import load_settings
from rota.core.policy import Policy, RetryPolicy
from rota.core.states import RunState
from rota.processes.executor_factory import build_executor_factory
from rota.sdk.webhooks import new_secret
from rota.store import tenants

pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")

SETTINGS = """
[executors]
shell_allow = ["/bin/echo"]
shell_tenants = ["acme"]
http_allow_networks = ["127.0.0.0/8"]
http_allow_ports = [{port}]
http_allow_tenants = ["acme"]
data_folder = "{folder}/data"
data_folder_tenants = ["acme"]
[executors.connections.acme-shop]
url = "sqlite://{folder}/shop.db"
tenants = ["acme"]
[executors.connections.acme-lake]
url = "s3://bucket/folder"
tenants = ["acme"]
[executors.connections.everyones]
url = "sqlite://{folder}/shop.db"
tenants = ["*"]
[executors.connections.undeclared]
url = "sqlite://{folder}/shop.db"
[channels.ops]
url = "json://127.0.0.1:{port}/notified"
tenants = ["acme"]
[executors.webhooks.partner]
secrets = ["${{PARTNER_SECRET}}"]
tenants = ["acme"]
[executors.places.photos]
url = "file://{folder}/photos"
tenants = ["acme"]
[executors.places.backup]
url = "file://{folder}/backup"
tenants = ["acme"]
[executors.places.public]
url = "file://{folder}/public"
tenants = ["*"]
"""
READ_SHOP = {"query": "select amount from money"}
# By what it tries: the kind, the payload, and the name in it that the tenant may not use.
ATTEMPTS: dict[str, tuple[str, dict[str, Any], str]] = {
    "sql": ("sql", {"connection": "acme-shop", **READ_SHOP}, "acme-shop"),
    "sql into a file": (
        "sql",
        {"connection": "everyones", **READ_SHOP, "result": "file", "file": {"path": "a.csv"}},
        "a file",
    ),
    "etl from a database": (
        "etl",
        {
            "extract": [{"name": "m", "from": {"connection": "acme-shop", **READ_SHOP}}],
            "load": {"to": {"connection": "everyones", "table": "copied"}},
        },
        "acme-shop",
    ),
    "etl into a database": (
        "etl",
        {
            "extract": [{"name": "m", "from": {"connection": "everyones", **READ_SHOP}}],
            "load": {"to": {"connection": "acme-shop", "table": "copied"}},
        },
        "acme-shop",
    ),
    "etl from a file": (
        "etl",
        {
            "extract": [{"name": "m", "from": {"file": "in.csv"}}],
            "load": {"to": {"connection": "everyones", "table": "copied"}},
        },
        "a file",
    ),
    "etl from an object store": (
        "etl",
        {
            "extract": [{"name": "m", "from": {"connection": "acme-lake", "file": "in.csv"}}],
            "load": {"to": {"connection": "everyones", "table": "copied"}},
        },
        "acme-lake",
    ),
    "notify": ("notify", {"channel": "ops", "body": "hello"}, "ops"),
    "webhook": ("webhook", {"webhook": "partner", "url": "{url}", "type": "a.b"}, "partner"),
    "sync from": ("sync", {"from": "photos:/", "to": "public:/"}, "photos:/"),
    "sync to": ("sync", {"from": "public:/", "to": "backup:/"}, "backup:/"),
    "shell": ("shell", {"argv": ["/bin/echo", "hello"]}, "shell"),
}
ONCE = Policy(retries=RetryPolicy(max_retries=3))


@asynccontextmanager
async def target() -> AsyncIterator[int]:
    """A server on this machine, which jobs reach only if their tenant may."""

    async def answer(_request: web.Request) -> web.Response:
        return web.Response(text="hello")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


class Rented:
    """A worker with resources of acme, and two tenants."""

    def __init__(self, shop: Shop, url: str, acme: int, globex: int) -> None:
        self.shop, self.url, self.acme, self.globex = shop, url, acme, globex

    async def submit(self, kind: str, payload: dict[str, Any], tenant_id: int) -> UUID:
        filled = json.loads(json.dumps(payload).replace("{url}", self.url))
        return await self.shop.submit(kind, filled, policy=ONCE, tenant_id=tenant_id)

    async def refusal(self, kind: str, payload: dict[str, Any], tenant_id: int) -> str:
        """The message of a run that ended without a second attempt."""
        run = await self.shop.ends(await self.submit(kind, payload, tenant_id))
        assert (run.state, run.attempt) == (RunState.DEAD, 1), run
        return str(json.loads(run.reason or "{}")["message"])


@asynccontextmanager
async def rented(database: str, folder: Path) -> AsyncIterator[Rented]:
    for name in ("data", "photos", "backup", "public"):
        (folder / name).mkdir()
    with sqlite3.connect(folder / "shop.db") as shop_db:
        shop_db.execute("create table money (amount integer)")
        shop_db.execute("insert into money values (7)")
    async with target() as port, open_shop(database) as shop:
        file = folder / "rota.toml"
        file.write_text(SETTINGS.format(folder=folder, port=port))
        make = build_executor_factory(load_settings(environment={}, file=file, default_files=()))
        shop.make_executors = make  # type: ignore[method-assign]
        acme = (await tenants.create_tenant(shop.conn, name="acme")).id
        globex = (await tenants.create_tenant(shop.conn, name="globex")).id
        async with shop.worker():
            yield Rented(shop, f"http://127.0.0.1:{port}/", acme, globex)


@pytest.fixture
async def worker(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Rented]:
    monkeypatch.setenv("PARTNER_SECRET", new_secret())
    async with rented(database, tmp_path) as found:
        yield found


async def test_every_resource_is_refused_to_another_tenant_as_if_it_did_not_exist(
    worker: Rented,
) -> None:
    for what, (kind, payload, name) in ATTEMPTS.items():
        told = await worker.refusal(kind, payload, worker.globex)
        assert f"{name!r} is not available to tenant 'globex'" in told, what
        invented = name.replace("acme", "none").replace("o", "x")
        other = json.loads(json.dumps(payload).replace(f'"{name}"', f'"{invented}"'))
        if other != payload:
            again = await worker.refusal(kind, other, worker.globex)
            assert again == told.replace(name, invented), what


async def test_the_tenant_that_is_named_uses_what_is_its_own(worker: Rented) -> None:
    tried = ["sql", "sql into a file", "notify", "webhook", "sync from", "sync to", "shell"]
    runs = {what: await worker.submit(*ATTEMPTS[what][:2], worker.acme) for what in tried}
    runs["http"] = await worker.submit("http", {"url": "{url}"}, worker.acme)

    ended = {what: await worker.shop.ends(run_id) for what, run_id in runs.items()}

    assert {what: run.state for what, run in ended.items()} == dict.fromkeys(
        runs, RunState.SUCCEEDED
    )


async def test_what_is_not_declared_belongs_to_the_default_tenant(worker: Rented) -> None:
    payload = {"connection": "undeclared", **READ_SHOP}

    mine = await worker.shop.ends(await worker.submit("sql", payload, 1))
    told = await worker.refusal("sql", payload, worker.acme)

    assert mine.state is RunState.SUCCEEDED
    assert "available: acme-lake, acme-shop, everyones;" in told
    assert "executors.connections.NAME.tenants" in told


async def test_networks_that_the_operator_opened_are_open_to_named_tenants_only(
    worker: Rented,
) -> None:
    told = await worker.refusal("http", {"url": "{url}"}, worker.globex)

    assert "is not open to jobs" in told
    assert "http_allow_tenants" in told
