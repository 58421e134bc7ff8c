"""Starts one Rota with example jobs and one Chromium for all tests of a process, on one loop."""

import asyncio
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from playwright.async_api import Browser
from tests.support.browsing import Site, Visit, open_chromium, visiting
from tests.support.hook_receiver import HookReceiver, receiving
from tests.support.installation import ROTA, address_said, clean
from tests.support.serving import Caller

from rota.api.dashboard.files import BUILD_FOLDER

PATIENCE = 60.0
Visiting = Callable[..., Awaitable[Visit]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Use one event loop for the session, because the browser outlives a test."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


# Webhooks and messages reach the receiver of the tests.
SETTINGS = """
[executors]
http_allow_networks = ["127.0.0.0/8"]
http_allow_ports = [{port}]

[channels.chat]
url = "webhook+http://127.0.0.1:{port}/chat"
tenants = ["*"]
default = true
secrets = ["whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="]
"""


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def receiver() -> AsyncIterator[HookReceiver]:
    """A server that gets webhooks and the messages of the channel `chat`."""
    async with receiving() as opened:
        yield opened


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def site(
    tmp_path_factory: pytest.TempPathFactory, receiver: HookReceiver
) -> AsyncIterator[Site]:
    """`rota up --demo` with its embedded database, as a user starts it."""
    assert (BUILD_FOLDER / "index.html").is_file(), "the dashboard is not built: run make web"
    folder = tmp_path_factory.mktemp("site")
    (folder / "rota.toml").write_text(SETTINGS.format(port=receiver.port))
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(  # noqa: ASYNC220 — long-lived, read from a thread
            [ROTA, "up", "--demo"],
            cwd=folder,
            env=clean(ROTA_API__PORT="0", ROTA_API__UNKNOWN_PER_SECOND="1000"),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        url = await asyncio.to_thread(address_said, process)
        key = (folder / ".rota" / "admin.key").read_text().strip()
        async with aiohttp.ClientSession() as session:
            platform = Caller(session=session, url=url, key=key)
            yield Site(url=url, folder=folder, platform=platform, process=process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(process.communicate, timeout=PATIENCE)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    async with open_chromium() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="session")
async def visit(site: Site, chromium: Browser) -> AsyncIterator[Visiting]:
    """Opens the dashboard as a user: `await visit("/jobs", role="viewer")`, or with a `key`.
    Every error of a page fails the test, except those in `visit.faults.expect(…)`.
    """
    async with AsyncExitStack() as stack:

        async def opened(
            path: str = "/",
            *,
            role: str | None = "platform",
            key: str | None = None,
            viewport: dict[str, int] | None = None,
        ) -> Visit:
            if key is None and role is not None:
                key = site.platform.key if role == "platform" else await site.key(role)
            made = await stack.enter_async_context(
                visiting(chromium, site, key=key, viewport=viewport)
            )
            await made.open(path)
            return made

        yield opened
