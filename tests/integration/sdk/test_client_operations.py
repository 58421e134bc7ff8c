"""Every operation of the API through both clients, against a real one. Proves a part of I3."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from string import Template
from typing import Any, get_type_hints
from urllib.parse import parse_qs

import msgspec
import pytest
from tests.integration.api.test_reference import Stage, stage
from tests.support.examples import Example
from tests.support.serving import Served, serving
from tools.reference.api_page import EXAMPLE_BODIES, build_example_path, sort_operations

from rota.api import resources
from rota.api.operations import Operation, catalogue
from rota.api.pipeline import is_list
from rota.sdk.client import ApiError, AsyncClient, Client, Page

__all__ = ["stage"]
resources.load_operations()
# The callers of hooks and pings have no key: no business of a client.
OPERATIONS = [each for each in sort_operations(catalogue.operations) if not each.is_hook]
STREAM = "text/event-stream"
SOON = timedelta(minutes=10)

Do = Callable[..., Awaitable[Any]]
Open = Callable[[Served], Any]


@pytest.fixture
async def api(database: str, tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(database, tmp_path) as served:
        yield served


@asynccontextmanager
async def blocking(api: Served) -> AsyncIterator[Do]:
    """The blocking client in a thread: the API runs in this one."""
    with Client(api.url, api.platform.key) as client:

        async def do(name: str, /, *places: Any, **given: Any) -> Any:
            return await asyncio.to_thread(getattr(client, name), *places, **given)

        yield do


@asynccontextmanager
async def waiting(api: Served) -> AsyncIterator[Do]:
    async with AsyncClient(api.url, api.platform.key) as client:

        async def do(name: str, /, *places: Any, **given: Any) -> Any:
            return await getattr(client, name)(*places, **given)

        yield do


@pytest.mark.parametrize("client", [blocking, waiting])
async def test_every_operation_answers_in_its_shape(stage: Stage, client: Open) -> None:
    async with client(stage.api) as do:
        for operation in OPERATIONS:
            if operation.media == STREAM:
                continue
            places, given = await example(stage, operation)

            answer = await do(operation.name, *places, **given)

            hint = get_type_hints(getattr(Client, operation.name))["return"]
            if isinstance(hint, type):
                assert isinstance(answer, hint), operation.name
            stage.learn(operation.name, msgspec.to_builtins(answer))


async def example(stage: Stage, operation: Operation) -> tuple[list[str], dict[str, Any]]:
    """The example of the reference page as arguments."""
    text = build_example_path(operation)
    shown = Example(heading=operation.name, command=text, status=operation.status, answer=None)
    variables = await stage.variables_for(shown)
    path, _, query = Template(text).substitute(variables).partition("?")
    found = re.fullmatch(re.sub(r"\{\w+\}", "([^/]+)", operation.path), path)
    assert found is not None
    given: dict[str, Any] = {}
    if operation.query is not None:
        types = {each.name: each.type for each in msgspec.structs.fields(operation.query)}
        for name, values in parse_qs(query).items():
            given[name] = values if is_list(types[name]) else values[0]
    if operation.body is not None:
        body = EXAMPLE_BODIES.get(operation.name, operation.example) or {}
        given |= {name_argument(operation.body, name): value for name, value in body.items()}
    return list(found.groups()), given


def name_argument(body: Any, name: str) -> str:
    """The argument of a field whose name is a keyword of Python, such as `for`."""
    if not (isinstance(body, type) and issubclass(body, msgspec.Struct)):
        return name
    names = {each.encode_name: each.name for each in msgspec.structs.fields(body)}
    return names.get(name, name)


async def test_times_are_times_and_durations_durations(api: Served) -> None:
    at = datetime(2031, 7, 1, 12, tzinfo=UTC)
    async with waiting(api) as do:
        made = await do("create_job", name="once", schedule_time=at, timeout=SOON)
        job = await do("get_job", made.job_id)

        assert made.next_run_at == job.next_run_at == at
        assert job.timeout == "PT10M"
        once = {"type": "one_time", "status": "active"}
        page = await do("list_jobs", created_after=job.created_at, **once)
        assert [each.name for each in page.items] == ["once"]
        late = job.created_at + timedelta(seconds=1)
        assert (await do("list_jobs", created_after=late, **once)).items == []


async def test_a_job_is_changed_only_if_it_has_the_version_that_was_seen(api: Served) -> None:
    async with waiting(api) as do:
        seen = await do("put_job", "report", cron_expression="0 6 * * *")
        changed = await do("put_job", "report", priority="high", if_match=seen.version)
        assert changed.version == seen.version + 1

        with pytest.raises(ApiError) as refused:
            await do("put_job", "report", priority="low", if_match=seen.version)

        assert (refused.value.status, refused.value.code) == (412, "version_changed")
        assert (await do("get_job", seen.job_id)).priority == changed.priority


async def test_pages_bring_everything_once(api: Served) -> None:
    jobs = [{"name": f"job {number}", "cron_expression": "0 6 * * *"} for number in range(7)]
    async with AsyncClient(api.url, api.platform.key) as client:
        await client.create_jobs(jobs)

        pages = [page async for page in client.pages(client.list_jobs, limit=3)]
        names = [each.name async for each in client.iterate(client.list_jobs, limit=2)]

        assert [len(page.items) for page in pages] == [3, 3, 1]
        assert sorted(names) == sorted(job["name"] for job in jobs)
    with Client(api.url, api.platform.key) as blocked:

        def read() -> tuple[list[Page[Any]], list[str]]:
            found = list(blocked.pages(blocked.list_jobs, limit=3))
            return found, [each.name for each in blocked.iterate(blocked.list_jobs, limit=2)]

        assert await asyncio.to_thread(read) == (pages, names)


async def test_a_list_that_comes_whole_is_one_page(api: Served) -> None:
    async with AsyncClient(api.url, api.platform.key) as client:
        await client.create_job(name="now", queue="mail")

        pages = [page async for page in client.pages(client.list_queues)]

    assert [page.next for page in pages] == [None]
    assert "mail" in [queue.name for queue in pages[0].items]
