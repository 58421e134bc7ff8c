"""Broken connections, refusals and servers that are not there. Proves a part of I3."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.support.proxying import Proxy, proxying
from tests.support.serving import Served, serving

from rota.core.errors import InvalidInput, RotaError
from rota.sdk.client import ApiError, AsyncClient, Client, Unreachable, Unreadable


@pytest.fixture
async def api(database: str, tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(database, tmp_path) as served:
        yield served


@pytest.fixture
async def proxy(api: Served) -> AsyncIterator[Proxy]:
    async with proxying(api.url) as made:
        yield made


@asynccontextmanager
async def answering(*answers: web.Response) -> AsyncIterator[tuple[str, list[web.BaseRequest]]]:
    """A server that gives these answers, one after the other, and the last one for ever."""
    asked: list[web.BaseRequest] = []

    async def handle(request: web.BaseRequest) -> web.Response:
        asked.append(request)
        given = answers[min(len(asked), len(answers)) - 1]
        return web.Response(body=given.body, status=given.status, headers=given.headers)

    runner = web.ServerRunner(web.Server(handle))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", asked
    finally:
        await runner.cleanup()


class Both:
    """The same call through either client."""

    def __init__(self, url: str, key: str | None, *, is_async: bool, **given: Any) -> None:
        self._url, self._key, self._given, self._is_async = url, key, given, is_async

    async def __call__(self, name: str, /, *places: Any, **given: Any) -> Any:
        if self._is_async:
            async with AsyncClient(self._url, self._key, **self._given) as client:
                return await getattr(client, name)(*places, **given)
        with Client(self._url, self._key, **self._given) as blocking:
            return await asyncio.to_thread(getattr(blocking, name), *places, **given)


BOTH = pytest.mark.parametrize("is_async", [False, True], ids=["blocking", "async"])


def both(url: str, key: str | None) -> list[Both]:
    """Either client in turn, where an API for each would cost a second."""
    return [Both(url, key, is_async=is_async) for is_async in (False, True)]


async def test_an_answer_that_is_lost_on_the_way_does_not_double_a_job(
    api: Served, proxy: Proxy
) -> None:
    made = []
    for do in both(proxy.url, api.platform.key):
        proxy.opened, proxy.cut_answers = 0, 2
        made.append(await do("create_job", kind="report", payload={"month": "June"}))
        assert proxy.opened == 3

    found = (await api.platform.get("/v1/jobs?type=one_time")).json["data"]
    assert {job["job_id"] for job in found} == {each.job_id for each in made}
    assert len(found) == 2


async def test_a_deletion_whose_answer_is_lost_is_done(api: Served, proxy: Proxy) -> None:
    async with AsyncClient(proxy.url, api.platform.key) as client:
        made = await client.create_job(name="old", cron_expression="0 6 * * *")
        proxy.cut_answers = 1

        await client.delete_job(made.job_id)

    made = await Both(api.url, api.platform.key, is_async=False)("put_job", "old", kind="old")
    proxy.cut_answers = 1
    await Both(proxy.url, api.platform.key, is_async=False)("delete_job", made.job_id)
    assert (await api.platform.get("/v1/jobs")).json["data"] == []


async def test_a_key_is_not_made_twice_nor_kept_for_a_repetition(api: Served, proxy: Proxy) -> None:
    for do in both(proxy.url, api.platform.key):
        proxy.opened, proxy.cut_answers = 0, 1

        with pytest.raises(Unreachable) as lost:
            await do("create_key", name="deployment", role="viewer")

        assert lost.value.may_have_happened
        assert proxy.opened == 1
    assert await api.conn.fetchval("select count(*) from rota.idempotency") == 0


async def test_the_same_key_of_ones_own_is_the_same_job(api: Served) -> None:
    blocking, waiting = both(api.url, api.platform.key)

    first = await blocking("create_job", kind="report", idempotency_key="order-17")
    second = await waiting("create_job", kind="report", idempotency_key="order-17")

    assert second == first
    with pytest.raises(ApiError) as refused:
        await blocking("create_job", kind="another", idempotency_key="order-17")
    assert refused.value.code == "idempotency_key_reused"


async def test_a_problem_has_its_fields(api: Served) -> None:
    jobs = [{"name": "a"}, {"name": "b", "cron_expression": "61 * * * *"}]
    for do in both(api.url, api.platform.key):
        with pytest.raises(ApiError) as refused:
            await do("create_jobs", jobs)

        problem = refused.value
        assert isinstance(problem, RotaError)
        assert (problem.status, problem.code) == (422, "invalid_schedule")
        (wrong,) = problem.errors
        assert wrong.pointer.startswith("/jobs/1/")
        assert "61" in problem.detail
        assert str(problem) == problem.detail
        assert problem.request_id
    assert (await api.platform.get("/v1/jobs")).json["data"] == []


async def test_who_has_no_valid_key_is_told_where_keys_are_looked_for(
    api: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ROTA_API_KEY", raising=False)

    for key, said in ((None, "no key was found"), ("rota_x_y", "the key was given as key=")):
        for do in both(api.url, key):
            with pytest.raises(ApiError) as refused:
                await do("list_jobs")

            assert (refused.value.status, refused.value.code) == (401, "unauthenticated")
            assert said in str(refused.value)
            assert "\n" not in str(refused.value)


@BOTH
async def test_a_server_that_is_busy_is_asked_again(*, is_async: bool) -> None:
    busy = web.Response(status=503, headers={"Retry-After": "0"})
    limited = web.Response(status=429, headers={"Retry-After": "0"})
    good = web.Response(body=b'{"status": "ok"}')
    async with answering(busy, limited, web.Response(status=502), good) as (url, asked):
        answer = await Both(url, "key", is_async=is_async)("get_health")

    assert answer.status == "ok"
    assert len(asked) == 4


@BOTH
async def test_the_retries_end(*, is_async: bool) -> None:
    async with answering(web.Response(status=503, headers={"Retry-After": "0"})) as (url, asked):
        with pytest.raises(ApiError) as refused:
            await Both(url, "key", is_async=is_async, retries=1)("pause_queue", "mail")

    assert (refused.value.status, refused.value.retry_after) == (503, 0.0)
    assert len(asked) == 2
    keys = [request.headers["Idempotency-Key"] for request in asked]
    assert keys[0] == keys[1]


@BOTH
async def test_a_server_that_is_not_there_is_named_in_one_sentence(*, is_async: bool) -> None:
    async with answering(web.Response()) as (url, _asked):
        pass

    with pytest.raises(Unreachable) as lost:
        await Both(url, "key", is_async=is_async, retries=1)("list_jobs")

    assert str(lost.value).startswith(f"cannot reach {url} (given as url=): connection refused; ")
    assert "\n" not in str(lost.value)
    assert not lost.value.may_have_happened


@BOTH
async def test_a_server_that_does_not_answer_in_time_is_told_so(*, is_async: bool) -> None:
    held = asyncio.Event()

    async def handle(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await held.wait()
        writer.close()

    async with await asyncio.start_server(handle, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        with pytest.raises(Unreachable, match="timed out") as lost:
            await Both(url, "key", is_async=is_async, timeout=0.1, retries=0)("list_jobs")
        held.set()

    assert lost.value.may_have_happened


@BOTH
async def test_something_that_is_no_rota_is_not_mistaken_for_one(*, is_async: bool) -> None:
    async with answering(web.Response(body=b"<html>Welcome</html>")) as (url, _asked):
        with pytest.raises(Unreadable, match="cannot read the response of"):
            await Both(url, "key", is_async=is_async)("list_jobs")


@BOTH
async def test_a_client_that_was_closed_says_so(*, is_async: bool) -> None:
    if is_async:
        waiting = AsyncClient("http://127.0.0.1:1", "key")
        await waiting.close()
        with pytest.raises(RuntimeError, match="closed"):
            await waiting.list_jobs()
        return
    blocking = Client("http://127.0.0.1:1", "key")
    blocking.close()
    with pytest.raises(RuntimeError, match="closed"):
        blocking.list_jobs()


def test_a_time_out_or_a_number_of_retries_that_cannot_be_is_refused() -> None:
    for given in ({"timeout": 0}, {"timeout": float("nan")}, {"retries": -1}):
        with pytest.raises(InvalidInput):
            Client("http://there", "key", **given)
