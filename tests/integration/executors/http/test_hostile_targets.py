"""Targets that must not be reached, answers that must not be believed (reliability 5.5, F58)."""

import asyncio
import socket
import tracemalloc
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from tests.integration.executors.http.target_server import TargetServer
from tests.unit.executors.http.ssrf_urls import NAMES, Verdict, lookup, table

from rota.core.errors import InvalidInput
from rota.core.outcome import Failed, Outcome, Succeeded
from rota.executors.http import HttpExecutor, TargetGuard
from rota.executors.http.executor import RedirectRefused, find_redirect_target
from rota.executors.http.response import BODY_KEPT_MAX_BYTES, HttpResponse, ResponseBody
from rota.executors.http.target import read_target
from rota.sdk.testing import RecordingContext


@dataclass(kw_only=True)
class Trap:
    """Listens on every address of this machine, and notes who comes."""

    port: int = 0
    visits: list[object] = field(default_factory=list)

    async def note(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.visits.append(writer.get_extra_info("sockname"))
        writer.close()


@pytest.fixture
async def trap() -> AsyncIterator[Trap]:
    trap = Trap()
    listener = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
    trap.port = listener.getsockname()[1]
    server = await asyncio.start_server(trap.note, sock=listener)
    yield trap
    server.close()
    await server.wait_closed()


async def run(executor: HttpExecutor, url: str, **payload: object) -> Outcome:
    spec = executor.read("http", {"url": url, **payload})
    return await asyncio.wait_for(executor.run(spec, RecordingContext()), 30)


def at_port(url: str, port: int) -> str:
    """The same URL with the port of the trap, where it names none."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host}:{port}{slash}{path}" if slash and scheme == "http" else url


async def test_the_trap_catches_whoever_comes(trap: Trap) -> None:
    """Otherwise the next tests would prove nothing."""
    guard = TargetGuard(allow_networks=("127.0.0.1/32", "::1/128"), allow_ports=(trap.port,))
    executor = HttpExecutor(guard=guard)
    await executor.open()

    for host in ("127.0.0.1", "[::1]"):
        await run(executor, f"http://{host}:{trap.port}/")

    await executor.close()
    assert len(trap.visits) == 2


async def test_no_forbidden_url_makes_a_connection(trap: Trap) -> None:
    """Its port is allowed, so that only the address stands between the job and the trap."""
    executor = HttpExecutor(guard=TargetGuard(allow_ports=(trap.port,)), lookup=lookup)
    await executor.open()
    forbidden = [
        at_port(url, trap.port) for url, verdict in table() if verdict is not Verdict.ALLOWED
    ]
    ended = []

    for url in forbidden:
        try:
            ended.append(await run(executor, url))
        except InvalidInput:
            continue

    await executor.close()
    assert len(ended) > 100
    assert all(isinstance(each, Failed) and each.final for each in ended)
    assert trap.visits == []


async def test_a_redirect_to_a_forbidden_url_is_not_followed(
    trap: Trap, server: TargetServer
) -> None:
    guard = TargetGuard(allow_hosts=("start.example",), allow_ports=(trap.port, server.port))
    asked: list[str] = []

    async def start_or_lookup(host: str) -> tuple[str, ...]:
        asked.append(host)
        return ("127.0.0.1",) if host == "start.example" else await lookup(host)

    executor = HttpExecutor(guard=guard, lookup=start_or_lookup)
    await executor.open()
    places = ["127.0.0.1", "[::1]", "localhost", "2130706433", "[::ffff:127.0.0.1]", *NAMES]
    private = [place for place in places if "public" not in place and place != "both.example"]

    outcomes = {
        place: await run(
            executor,
            f"http://start.example:{server.port}/redirect/307?to=http://{place}:{trap.port}/",
            redirects=3,
        )
        for place in private
    }

    await executor.close()
    assert len(server.requests) == len(private)
    assert all(isinstance(each, Failed) and each.final for each in outcomes.values()), outcomes
    assert trap.visits == []


async def test_a_name_that_is_public_first_and_private_then_does_not_get_in(trap: Trap) -> None:
    """DNS rebinding: what was judged is what is connected to, and every request is judged anew."""
    answers = [["93.184.216.34", "127.0.0.1"], ["127.0.0.1"], ["::ffff:127.0.0.1"]]
    asked = []

    async def rebinding(host: str) -> list[str]:
        asked.append(host)
        return answers[len(asked) - 1]

    executor = HttpExecutor(guard=TargetGuard(allow_ports=(trap.port,)), lookup=rebinding)
    await executor.open()

    outcomes = [await run(executor, f"http://rebind.example:{trap.port}/") for _ in answers]

    await executor.close()
    assert len(asked) == len(answers), "one question for each request"
    assert all(isinstance(each, Failed) and each.final for each in outcomes)
    assert trap.visits == []


def test_a_secure_target_may_not_redirect_to_an_insecure_one() -> None:
    moved = HttpResponse(
        status=302,
        headers={"location": "http://public.example/"},
        charset="utf-8",
        body=ResponseBody(),
    )

    with pytest.raises(RedirectRefused):
        find_redirect_target(read_target("https://public.example/"), moved)


async def test_a_refusal_is_final_and_says_what_to_allow() -> None:
    executor = HttpExecutor(lookup=lookup)
    await executor.open()

    outcome = await run(executor, "https://ten.example/")

    await executor.close()
    assert isinstance(outcome, Failed)
    assert outcome.final
    assert outcome.failure.type == "target refused"
    assert outcome.failure.message == (
        "ten.example is at 10.0.0.7, which is not a public address; the operator may allow it with "
        'http_allow_hosts = ["ten.example"] or http_allow_networks = ["10.0.0.7/32"]'
    )


@pytest.mark.parametrize("path", ["/endless", "/bomb", "/big/9000000"])
async def test_an_enormous_answer_is_cut_and_takes_little_memory(
    server: TargetServer, executor: HttpExecutor, path: str
) -> None:
    server_holds = 9_000_000 * 3 if path.startswith("/big") else 4_000_000
    tracemalloc.start()

    outcome = await run(executor, server.url + path)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(outcome, Succeeded)
    assert isinstance(outcome.result, dict)
    assert outcome.result["truncated"] is True
    assert len(outcome.result["body_text"].encode()) <= BODY_KEPT_MAX_BYTES
    assert peak < server_holds


async def test_an_answer_without_end_is_hung_up_on(
    server: TargetServer, executor: HttpExecutor
) -> None:
    await run(executor, f"{server.url}/endless", max_body=100_000)

    await asyncio.wait_for(server.hung_up.wait(), 5)
