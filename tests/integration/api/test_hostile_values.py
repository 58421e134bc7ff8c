"""No value in a path, a query, a body or a cursor makes an operation answer 500."""

import asyncio
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from tests.support.databases import clone_url, drop
from tests.support.serving import Answer, Caller, Served, serving

from rota.api import paging, resources
from rota.api.operations import Operation, catalogue
from rota.contract import ics
from rota.core.errors import InvalidInput
from rota.core.time import moments
from rota.sdk.testing.simulation import simulate
from rota.store.embedded import Embedded

resources.load_operations()
ENDLESS = "text/event-stream"
OPERATIONS = [each for each in catalogue.operations if each.media != ENDLESS]
EDGES = ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00")
TEXTS = ("\x00", "a\x00b", "x" * 300, *EDGES)
# Encoded by hand where no client would: an invalid byte of UTF-8, a control character, a surrogate.
IN_PATHS = (*map(quote, TEXTS), "%ff", "%01", "%ed%a0%80")
PLACES: tuple[list[Any], ...] = (
    [],
    [""],
    ["\x00"],
    ["a\x00b", "\x00"],
    ["x" * 300],
    *([edge, "job_" + "0" * 32] for edge in EDGES),
    ["1", "2", "3"],
)
PREFIXED = {"job_id": "job", "run_id": "run", "key_id": "key", "hook_id": "hook"}


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    yield made
    made.close()


@pytest.fixture(scope="module")
def api(
    loop: asyncio.AbstractEventLoop, server: Embedded, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    async def opened() -> AsyncIterator[Served]:
        database = await clone_url(server.url)
        async with serving(database, tmp_path_factory.mktemp("api")) as served:
            yield served
        await drop(server.url, database)

    opening = opened()
    yield loop.run_until_complete(anext(opening))
    with pytest.raises(StopAsyncIteration):
        loop.run_until_complete(anext(opening))


def ordinary_path(operation: Operation) -> str:
    ids = {name: f"{prefix}_{'0' * 32}" for name, prefix in PREFIXED.items()}
    return operation.path.format(**{name: ids.get(name, "999") for name in operation.parameters})


async def send(caller: Caller, operation: Operation, path: str, json: Any = None) -> Answer:
    if json is None and operation.has_body:
        json = operation.example if operation.example is not None else {}
    return await caller.call(operation.method, path, json=json)


def hostile_paths(operation: Operation) -> Iterator[str]:
    for name in operation.parameters:
        for value in IN_PATHS:
            places = dict.fromkeys(operation.parameters, "999") | {name: value}
            yield operation.path.format(**places)


def hostile_queries(operation: Operation) -> Iterator[str]:
    if operation.query is None:
        return
    path = ordinary_path(operation)
    for each in msgspec.structs.fields(operation.query):
        for value in TEXTS:
            yield f"{path}?{each.encode_name}={quote(value)}"


def hostile_bodies(operation: Operation) -> Iterator[Any]:
    """The example with one value replaced, and with each other field of the shape added."""
    if not operation.has_body:
        return
    example = operation.example if operation.example is not None else {}
    for value in TEXTS:
        yield from (replaced(example, path, value) for path in leaves(example))
    fields: Any = ()
    if isinstance(operation.body, type) and issubclass(operation.body, msgspec.Struct):
        fields = msgspec.structs.fields(operation.body)
    if isinstance(example, dict):
        for each in fields:
            for value in TEXTS if each.encode_name not in example else ():
                yield example | {each.encode_name: value}


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from leaves(inner, (*path, place))
    elif path:
        yield path


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    key, *rest = path
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[key] = replaced(copy[key], tuple(rest), new)
    return copy


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.name)
def test_no_operation_answers_500_to_a_hostile_value(
    api: Served, loop: asyncio.AbstractEventLoop, operation: Operation
) -> None:
    async def strike() -> list[tuple[str, Any, str]]:
        caller, path = api.platform, ordinary_path(operation)
        sent: list[tuple[str, Any]] = [(each, None) for each in hostile_paths(operation)]
        sent += [(each, None) for each in hostile_queries(operation)]
        sent += [(path, each) for each in hostile_bodies(operation)]
        broken = []
        for where, body in sent:
            answer = await send(caller, operation, where, body)
            if answer.status >= 500:
                broken.append((where, body, answer.text))
        return broken

    assert loop.run_until_complete(strike()) == []


@pytest.mark.parametrize(
    "operation",
    [
        each
        for each in OPERATIONS
        if each.query is not None and "cursor" in each.query.__struct_fields__
    ],
    ids=lambda each: each.name,
)
def test_no_cursor_makes_a_list_answer_500(
    api: Served,
    loop: asyncio.AbstractEventLoop,
    operation: Operation,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The digest in a cursor is no secret: who knows the filters can write any place."""
    digests: list[bytes] = []
    digest_of = paging._digest

    def noted(filters: Any) -> bytes:
        digests.append(digest_of(filters))
        return digests[-1]

    monkeypatch.setattr(paging, "_digest", noted)
    more = {"list_executions": "worker_id=w1&", "list_members": "step=each&"}
    path = f"{ordinary_path(operation)}?{more.get(operation.name, '')}cursor="

    async def strike() -> list[tuple[list[Any], int]]:
        await send(api.platform, operation, path + paging.write_cursor(["none"], ["1"]))
        found = []
        for place in PLACES:
            raw = msgspec.msgpack.encode([digests[-1], place])
            text = urlsafe_b64encode(raw).decode().rstrip("=")
            answer = await send(api.platform, operation, path + text)
            found.append((place, answer.status))
        return found

    assert [each for each in loop.run_until_complete(strike()) if each[1] >= 500] == []


@pytest.mark.parametrize("text", EDGES)
def test_an_instant_at_the_edge_of_time_is_refused_like_any_other_mistake(text: str) -> None:
    with pytest.raises(InvalidInput):
        moments.parse(text)
    with pytest.raises(InvalidInput):
        simulate({"cron": "* * * * *"}, start=text, end=text)
    with pytest.raises(InvalidInput):
        ics.read_ics(
            f"BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:{text}\nEND:VEVENT\nEND:VCALENDAR\n",
            name="edge",
            timezone="Pacific/Kiritimati" if text.startswith("9") else "Pacific/Pago_Pago",
        )
