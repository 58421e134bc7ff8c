"""Who may do what, for every operation of the document (T2, T1): none is forgotten."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.support.databases import clone_url, drop
from tests.support.serving import Answer, Caller, Served, serving

from rota.api import resources
from rota.api.operations import Operation, catalogue
from rota.core.access import ROLE_PERMISSIONS, Permission, Role
from rota.store.embedded import Embedded

resources.load_operations()
# An endless answer is asked for elsewhere (test_operating.py); who may is asked of all the same.
ENDLESS = "text/event-stream"
OPERATIONS = [each for each in catalogue.operations if each.permission is not None]
PERMITTED_TO_READ = {role.value for role in Role}
IDS = {"job_id": "job_" + "0" * 32, "run_id": "run_" + "0" * 32, "key_id": "key_" + "0" * 32}
QUERY = {"list_executions": "?worker_id=w1", "list_members": "?step=each"}


class People(NamedTuple):
    api: Served
    callers: dict[str, Caller]


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """One API for the whole matrix, so one loop."""
    made = asyncio.new_event_loop()
    yield made
    made.close()


@pytest.fixture(scope="module")
def people(
    loop: asyncio.AbstractEventLoop, server: Embedded, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[People]:
    opening = opened(server, tmp_path_factory.mktemp("api"))
    yield loop.run_until_complete(anext(opening))
    with pytest.raises(StopAsyncIteration):
        loop.run_until_complete(anext(opening))


async def opened(server: Embedded, folder: Path) -> AsyncIterator[People]:
    database = await clone_url(server.url)
    async with serving(database, folder) as api:
        callers = {role.value: await api.caller(role.value) for role in Role}
        for name, ends in (("expired", "expires_at"), ("revoked", "revoked_at")):
            callers[name] = await api.caller("admin", user_id=name)
            await api.conn.execute(
                f"update rota.api_keys set {ends} = now() where user_id = '{name}'"
            )
        callers["nobody"] = api.stranger()
        yield People(api, callers)
    await drop(server.url, database)


async def ask(caller: Caller, operation: Operation, ids: dict[str, str] = IDS) -> Answer:
    """The operation with things that do not exist: whoever may ask gets anything but 401 or 403."""
    places = {name: ids.get(name, "999999") for name in operation.parameters}
    path = operation.path.format(**places) + QUERY.get(operation.name, "")
    return await caller.call(operation.method, path, json=operation.example or {})


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.name)
def test_each_role_may_do_what_its_permissions_say_and_nobody_else_anything(
    people: People, loop: asyncio.AbstractEventLoop, operation: Operation
) -> None:
    for who, caller in people.callers.items():
        if operation.media == ENDLESS and who in PERMITTED_TO_READ:
            continue
        status = loop.run_until_complete(ask(caller, operation)).status
        if who in {"nobody", "expired", "revoked"}:
            assert status == 401, who
        elif operation.permission in ROLE_PERMISSIONS[Role(who)]:
            assert status not in {401, 403}, who
            assert status < 500, who
        else:
            assert status == 403, who


@pytest.mark.parametrize(
    "operation",
    [each for each in OPERATIONS if {"job_id", "run_id", "key_id"} & set(each.parameters)],
    ids=lambda each: each.name,
)
def test_things_of_another_tenant_are_not_there(
    people: People, loop: asyncio.AbstractEventLoop, operation: Operation
) -> None:
    async def try_it() -> int:
        api = people.api
        made = await api.platform.post("/v1/jobs", {"kind": "noop"})
        key = (await api.platform.post("/v1/keys", {"name": "k", "role": "viewer"})).json
        ids = {"job_id": made.json["job_id"], "run_id": made.json["run_id"]}
        ids["key_id"] = key["key_id"]
        await api.platform.delete(f"/v1/keys/{key['key_id']}")
        tenant = await api.tenant(f"other {operation.name}")
        stranger = await api.caller("admin", tenant_id=tenant)
        return (await ask(stranger, operation, ids)).status

    assert loop.run_until_complete(try_it()) == 404


def test_an_operation_without_a_permission_is_one_of_the_few_that_are_open() -> None:
    is_open = {each.path for each in catalogue.operations if each.permission is None}

    assert is_open == {
        *("/healthz", "/readyz", "/v1/openapi.json", "/docs", "/docs/{file}", "/problems/{code}"),
        "/v1/hooks/{hook_id}",
        # The token in the address of a ping is its key.
        *("/ping/{token}", "/ping/{token}/{signal}"),
    }


def test_every_permission_is_asked_for_by_some_operation() -> None:
    assert {each.permission for each in OPERATIONS} == set(Permission)
