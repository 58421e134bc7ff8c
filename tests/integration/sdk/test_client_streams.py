"""Logs and the feed are followed, over broken connections as well. Proves a part of I3."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.proxying import Proxy, proxying
from tests.support.serving import Served, serving
from tests.support.shop import Shop, open_shop

from rota.core.executor import AttemptContext, Stream
from rota.sdk.client import ApiError, AsyncClient, Client

PATIENCE = 20.0


@pytest.fixture
async def api(database: str, tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(database, tmp_path) as served:
        yield served


@pytest.fixture
async def proxy(api: Served) -> AsyncIterator[Proxy]:
    async with proxying(api.url) as made:
        yield made


@pytest.fixture
async def shop(database: str) -> AsyncIterator[Shop]:
    async with open_shop(database) as opened:
        yield opened


async def test_the_lines_of_a_run_are_followed_until_it_ends(
    api: Served, proxy: Proxy, shop: Shop
) -> None:
    """The connection is cut after the first line; nothing is lost and nothing comes twice."""
    goes_on = asyncio.Event()
    loop = asyncio.get_running_loop()

    @shop.handlers.handler("report")
    async def report(context: AttemptContext, payload: Any) -> None:
        context.write(Stream.STDOUT, b"one\n")
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(goes_on.wait(), loop))
        context.write(Stream.STDOUT, b"two\n")

    async with shop.worker(), AsyncClient(proxy.url, api.platform.key) as client:
        made = await client.create_job(kind="report")
        assert made.run_id is not None
        seen = []
        async with asyncio.timeout(PATIENCE):
            async for line in client.follow_logs(made.run_id):
                seen.append(line)
                if len(seen) == 1:
                    proxy.cut()
                    goes_on.set()

        assert [line.text for line in seen] == ["one\n", "two\n"]
        assert (await client.get_run(made.run_id)).status == "succeeded"
        first = f"1.{seen[0].seq}"
        with Client(api.url, api.platform.key) as blocking:
            again, rest = await asyncio.gather(
                asyncio.to_thread(list, blocking.follow_logs(made.run_id)),
                asyncio.to_thread(list, blocking.follow_logs(made.run_id, after=first)),
            )
        assert again == seen
        assert rest == seen[1:]


async def test_the_feed_goes_on_after_the_connection_is_cut(api: Served, proxy: Proxy) -> None:
    names = []
    async with AsyncClient(proxy.url, api.platform.key) as client, asyncio.timeout(PATIENCE):
        feed = client.follow_feed()
        first = asyncio.ensure_future(anext(feed))
        await submit_until(api, first)
        names.append(first.result().job_name)
        proxy.cut()
        await api.platform.post("/v1/jobs", {"name": "while it was cut"})

        async for event in feed:
            names.append(event.job_name)
            if event.job_name == "while it was cut":
                break
        await feed.aclose()

    assert names[0] == "before"
    assert proxy.opened >= 2


async def submit_until(api: Served, told: "asyncio.Future[Any]") -> None:
    """Nobody knows when a stream has begun; the feed tells of what comes after that."""
    await api.platform.post("/v1/jobs", {"name": "before", "cron_expression": "0 6 * * *"})
    job = (await api.platform.get("/v1/jobs")).json["data"][0]["job_id"]
    priority = 0
    while not told.done():
        priority = (priority + 1) % 10
        await api.platform.put(f"/v1/jobs/{job}", {"priority": priority})
        await asyncio.wait([told], timeout=0.2)


async def test_the_blocking_client_follows_the_feed_as_well(api: Served, proxy: Proxy) -> None:
    with Client(proxy.url, api.platform.key) as client:
        feed = client.follow_feed()
        first = asyncio.ensure_future(asyncio.to_thread(next, feed))
        await submit_until(api, first)
        event = first.result()
        proxy.cut()
        second = asyncio.ensure_future(asyncio.to_thread(next, feed))
        await submit_more(api, second)
        await asyncio.to_thread(feed.close)

    assert (event.type, event.job_name) == ("job.changed", "before")
    assert second.result().id


async def submit_more(api: Served, told: "asyncio.Future[Any]") -> None:
    number = 0
    while not told.done():
        number += 1
        await api.platform.post("/v1/jobs", {"name": f"more {number}"})
        await asyncio.wait([told], timeout=0.2)


async def test_a_run_that_does_not_exist_is_told_before_the_first_line(api: Served) -> None:
    with Client(api.url, api.platform.key) as client:
        lines = client.follow_logs("run_" + "0" * 32)
        with pytest.raises(ApiError) as refused:
            await asyncio.to_thread(next, lines)

    assert refused.value.status == 404
