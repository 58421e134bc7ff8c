"""Which names the API answers to: a page of another site must not read it (DNS rebinding)."""

from pathlib import Path

import pytest
from tests.support.raw_http import Dial, status_of
from tests.support.serving import Served, serving

PUBLIC = "rota.example.com"


async def status_for(dial: Dial, url: str, *hosts: str, path: str = "/v1/openapi.json") -> int:
    """The status of a request with these Host headers."""
    raw = await dial(url)
    lines = [f"GET {path} HTTP/1.1", *(f"Host: {host}" for host in hosts), "Connection: close"]
    await raw.send(("\r\n".join(lines) + "\r\n\r\n").encode())
    return status_of(await raw.read_to_end())


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:7070", "localhost.", "rota.localhost", "127.0.0.1", "[::1]:1"]
)
async def test_loopback_answers_to_its_own_names(api: Served, dial: Dial, host: str) -> None:
    assert await status_for(dial, api.url, host) == 200


@pytest.mark.parametrize("path", ["/", "/docs", "/v1/jobs", "/ui/session", "/nowhere"])
async def test_loopback_answers_to_no_name_of_another_site(
    api: Served, dial: Dial, path: str
) -> None:
    assert await status_for(dial, api.url, "evil.example:7070", path=path) == 421


async def test_a_host_that_is_missing_doubled_or_no_host_is_refused(
    api: Served, dial: Dial
) -> None:
    statuses = [
        await status_for(dial, api.url),
        await status_for(dial, api.url, "localhost", "localhost"),
        await status_for(dial, api.url, "localhost", "evil.example"),
        await status_for(dial, api.url, "local host"),
        await status_for(dial, api.url, ""),
    ]

    assert statuses == [400, 400, 400, 400, 400]


async def test_probes_need_no_host(api: Served, dial: Dial) -> None:
    raw = await dial(api.url)
    await raw.send(b"GET /healthz HTTP/1.0\r\n\r\n")

    assert status_of(await raw.read_to_end()) == 200
    assert await status_for(dial, api.url, "10.1.2.3:7070", path="/readyz") == 200


async def test_names_that_are_listed_are_answered(
    database: str, tmp_path: Path, dial: Dial
) -> None:
    async with serving(database, tmp_path, allowed_hosts=(PUBLIC, "*.internal")) as api:
        hosts = [PUBLIC, "a.internal", "internal", "evil.example", "localhost"]
        statuses = [await status_for(dial, api.url, host) for host in hosts]

    assert statuses == [200, 200, 421, 421, 200]


async def test_beyond_loopback_every_name_is_answered_unless_there_is_a_list(
    database: str, tmp_path: Path, dial: Dial
) -> None:
    async with serving(database, tmp_path, host="0.0.0.0", insecure_http=True) as api:
        url = api.url.replace("0.0.0.0", "127.0.0.1")
        answered = await status_for(dial, url, PUBLIC)
    async with serving(
        database, tmp_path, host="0.0.0.0", insecure_http=True, allowed_hosts=(PUBLIC,)
    ) as api:
        url = api.url.replace("0.0.0.0", "127.0.0.1")
        listed = [await status_for(dial, url, host) for host in (PUBLIC, "evil.example")]

    assert answered == 200
    assert listed == [200, 421]


async def test_a_request_that_is_refused_says_what_to_do(api: Served) -> None:
    answer = await api.platform.get("/v1/jobs", Host="evil.example")

    assert answer.json["code"] == "unknown_host"
    assert "api.allowed_hosts" in answer.json["detail"]
    assert answer.json["request_id"].startswith("req_")
