"""HTTP jobs against a real server: headers, endings, redirects, time (E2, E8, E11, E17)."""

import asyncio
import json
from importlib import metadata

import pytest
from tests.integration.executors.http.target_server import TargetServer

from rota.core.executor import Stream
from rota.core.outcome import Failed, Outcome, Succeeded
from rota.executors.http import HttpExecutor, TargetGuard
from rota.sdk.testing import RecordingContext


async def run(
    executor: HttpExecutor, url: str, context: RecordingContext | None = None, **payload: object
) -> Outcome:
    spec = executor.read("http", {"url": url, **payload})
    return await asyncio.wait_for(executor.run(spec, context or RecordingContext()), 30)


def failure_of(outcome: Outcome) -> Failed:
    assert isinstance(outcome, Failed)
    return outcome


async def test_a_request_arrives_as_it_was_written(
    server: TargetServer, executor: HttpExecutor
) -> None:
    path = "/echo/a%2Fb/%7e;x?q=%20&p=a+b&sig=x%3D"
    body = {"id": 7, "name": "ü"}

    outcome = await run(
        executor, server.url + path, method="PUT", body=body, headers={"X-Team": "billing"}
    )

    assert isinstance(outcome, Succeeded)
    (seen,) = server.requests
    assert (seen["method"], seen["path"]) == ("PUT", path)
    assert json.loads(seen["body"]) == body
    assert seen["headers"]["x-team"] == "billing"
    assert seen["headers"]["content-type"] == "application/json"
    assert seen["headers"]["host"] == f"127.0.0.1:{server.port}"


async def test_every_attempt_carries_the_same_key_and_its_own_number(
    server: TargetServer, executor: HttpExecutor
) -> None:
    for attempt in (1, 2):
        await run(executor, server.url, RecordingContext(attempt=attempt))

    first, second = (seen["headers"] for seen in server.requests)
    assert (
        first["idempotency-key"] == second["idempotency-key"] == RecordingContext().idempotency_key
    )
    assert (first["rota-attempt"], second["rota-attempt"]) == ("1", "2")
    assert (first["rota-fence"], second["rota-fence"]) == ("1", "2")
    assert first["rota-run"] == str(RecordingContext().run_id)
    assert first["rota-scheduled-at"] == "2030-01-01T09:00:00Z"
    assert first["user-agent"] == f"rota/{metadata.version('rota')}"


async def test_the_result_holds_status_headers_and_body(
    server: TargetServer, executor: HttpExecutor
) -> None:
    context = RecordingContext()

    outcome = await run(executor, f"{server.url}/status/201?Etag=abc", context)

    assert isinstance(outcome, Succeeded)
    result = outcome.result
    assert isinstance(result, dict)
    assert (result["status"], result["body_text"], result["truncated"]) == (201, "said so", False)
    assert result["headers"]["etag"] == "abc"
    expected = f"GET {server.url}/status/201 answered 201, 7 bytes\n"
    assert context.output_of(Stream.ROTA).text == expected


async def test_a_busy_target_is_tried_again_when_it_wants(
    server: TargetServer, executor: HttpExecutor
) -> None:
    outcome = failure_of(await run(executor, f"{server.url}/status/503?Retry-After=90"))

    assert outcome.failure.type == "http 503"
    assert not outcome.final
    assert outcome.retry_after is not None
    assert outcome.retry_after.total_seconds() == 90


async def test_a_refusal_of_the_target_is_final(
    server: TargetServer, executor: HttpExecutor
) -> None:
    outcome = failure_of(await run(executor, f"{server.url}/status/404?x=y"))

    assert outcome.final
    assert outcome.failure.message.endswith("/status/404 answered 404: said so")


async def test_connections_that_fail_are_tried_again(
    server: TargetServer, executor: HttpExecutor, unused_tcp_port: int
) -> None:
    guard = TargetGuard(allow_networks=("127.0.0.1/32",), allow_ports=(unused_tcp_port,))
    nobody_there = HttpExecutor(guard=guard)
    await nobody_there.open()

    refused = failure_of(await run(nobody_there, f"http://127.0.0.1:{unused_tcp_port}/"))
    broken = failure_of(await run(executor, f"{server.url}/broken"))
    no_tls = failure_of(await run(executor, f"https://127.0.0.1:{server.port}/"))

    await nobody_there.close()
    assert [each.failure.type for each in (refused, broken, no_tls)] == [
        "network",
        "network",
        "tls",
    ]
    assert not any(each.final or each.reached for each in (refused, broken, no_tls))
    assert refused.reached is False


@pytest.mark.parametrize("method", ["GET", "PUT", "POST", "DELETE"])
async def test_an_attempt_sends_one_request_even_if_it_is_cut_off(
    server: TargetServer, executor: HttpExecutor, method: str
) -> None:
    outcome = failure_of(await run(executor, f"{server.url}/broken", method=method))

    assert outcome.failure.type == "network"
    assert len(server.requests) == 1


async def test_a_name_that_does_not_resolve_is_tried_again() -> None:
    async def lookup(host: str) -> tuple[str, ...]:
        raise OSError(f"{host} is unknown")

    executor = HttpExecutor(lookup=lookup)
    await executor.open()

    outcome = failure_of(await run(executor, "http://nowhere.example/"))

    await executor.close()
    assert outcome.failure.type == "name not resolved"
    assert not outcome.final


async def test_a_silent_target_is_given_up_when_the_payload_says_so(
    server: TargetServer, executor: HttpExecutor
) -> None:
    outcome = failure_of(await run(executor, f"{server.url}/silent", timeout="200ms"))

    assert outcome.failure.type == "timeout"
    assert not outcome.final
    await asyncio.wait_for(server.hung_up.wait(), 5)


async def test_a_cancelled_request_hangs_up(server: TargetServer, executor: HttpExecutor) -> None:
    attempt = asyncio.create_task(run(executor, f"{server.url}/silent"))
    await asyncio.wait_for(server.asked.wait(), 5)

    attempt.cancel()
    await asyncio.wait([attempt], timeout=5)

    assert attempt.cancelled()
    await asyncio.wait_for(server.hung_up.wait(), 5)


async def test_a_redirect_is_followed_only_if_the_payload_says_so(
    server: TargetServer, executor: HttpExecutor
) -> None:
    url = f"{server.url}/redirect/302?to=/redirect/302%3Fto=/there"

    never = failure_of(await run(executor, url))
    once = failure_of(await run(executor, url, redirects=1))
    twice = await run(executor, url, redirects=2)

    assert never.failure.type == once.failure.type == "http 302"
    assert never.final
    assert isinstance(twice, Succeeded)
    assert server.requests[-1]["path"] == "/there"


async def test_what_fails_behind_a_redirect_is_no_failure_of_who_sent_us_there(
    server: TargetServer, executor: HttpExecutor
) -> None:
    broken = await run(executor, f"{server.url}/redirect/302?to=/broken", redirects=1)
    busy = await run(executor, f"{server.url}/redirect/302?to=/status/503", redirects=1)

    assert [failure_of(each).reached for each in (broken, busy)] == [True, True]


@pytest.mark.parametrize(
    ("status", "method", "expected"),
    [
        *((301, "POST", "GET"), (302, "POST", "GET"), (303, "PUT", "GET"), (303, "HEAD", "HEAD")),
        *((307, "POST", "POST"), (308, "PATCH", "PATCH"), (302, "PUT", "PUT")),
    ],
)
async def test_a_redirect_changes_the_method_as_the_standard_says(
    server: TargetServer, executor: HttpExecutor, status: int, method: str, expected: str
) -> None:
    url = f"{server.url}/redirect/{status}?to=/there"

    outcome = await run(executor, url, method=method, body="text", redirects=1)

    assert isinstance(outcome, Succeeded)
    last = server.requests[-1]
    assert last["method"] == expected
    assert last["body"] == ("text" if expected == method != "HEAD" else "")


async def test_credentials_stay_with_the_origin_they_were_meant_for(server: TargetServer) -> None:
    async def lookup(host: str) -> tuple[str, ...]:
        return ("127.0.0.1",)

    guard = TargetGuard(allow_hosts=("a.example", "b.example"), allow_ports=(server.port,))
    executor = HttpExecutor(guard=guard, lookup=lookup)
    await executor.open()
    secrets = {"Authorization": "Bearer x", "Cookie": "a=b", "X-Api-Key": "k", "Accept": "a/b"}
    there = f"http://b.example:{server.port}/there"

    outcome = await run(
        executor,
        f"http://a.example:{server.port}/redirect/307?to={there}",
        headers=secrets,
        redirects=1,
    )

    await executor.close()
    assert isinstance(outcome, Succeeded)
    first, second = (seen["headers"] for seen in server.requests)
    assert first["authorization"] == "Bearer x"
    assert not {"authorization", "cookie", "x-api-key"} & second.keys()
    assert second["accept"] == "a/b"
    assert second["host"] == f"b.example:{server.port}"
    assert second["idempotency-key"] == first["idempotency-key"]


async def test_a_redirect_to_nowhere_is_a_final_failure(
    server: TargetServer, executor: HttpExecutor
) -> None:
    outcome = failure_of(await run(executor, f"{server.url}/redirect/302", redirects=1))

    assert outcome.final


async def test_the_proxies_of_the_environment_are_ignored(
    server: TargetServer, executor: HttpExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/")

    outcome = await run(executor, server.url)

    assert isinstance(outcome, Succeeded)


async def test_cookies_of_one_attempt_are_not_sent_by_the_next(server: TargetServer) -> None:
    async def lookup(host: str) -> tuple[str, ...]:
        return ("127.0.0.1",)

    guard = TargetGuard(allow_hosts=("a.example",), allow_ports=(server.port,))
    executor = HttpExecutor(guard=guard, lookup=lookup)
    await executor.open()

    await run(executor, f"http://a.example:{server.port}/status/200?Set-Cookie=a%3Db%3BPath%3D/")
    await run(executor, f"http://a.example:{server.port}/")

    await executor.close()
    assert len(server.requests) == 2
    assert "cookie" not in server.requests[-1]["headers"]
