"""What a client can do before it is authenticated: connect, and send less than a request (T1)."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.certificates import write_certificate
from tests.support.raw_http import HALF_HEAD, Dial, request, status_of
from tests.support.serving import CLOCK, Served, serving
from tests.support.shop import until

from rota.api import connections, protocol

QUICK = timedelta(milliseconds=200)
OTHER_HOST = "127.0.0.2"


@pytest.fixture
async def quick(database: str, tmp_path: Path) -> AsyncIterator[Served]:
    """An API that waits for a head for a fifth of a second."""
    async with serving(database, tmp_path, head_timeout=QUICK) as served:
        yield served


async def test_half_a_head_is_answered_408_and_closed(quick: Served, dial: Dial) -> None:
    raw = await dial(quick.url)
    await raw.send(HALF_HEAD)

    answer = await raw.read_to_end()

    assert status_of(answer) == 408
    assert b'"code":"request_timeout"' in answer


async def test_a_head_that_arrives_byte_by_byte_has_no_more_time(quick: Served, dial: Dial) -> None:
    raw = await dial(quick.url)

    async def drip() -> bool:
        await raw.send(b"x")
        return raw.is_closed

    await raw.send(HALF_HEAD)
    reading = asyncio.create_task(raw.read_to_end())
    await until(drip)

    assert status_of(await reading) == 408


@pytest.mark.parametrize("sent", [b"", b"\r\n"])
async def test_a_connection_without_a_request_is_closed(
    quick: Served, sent: bytes, dial: Dial
) -> None:
    raw = await dial(quick.url)
    await raw.send(sent)

    assert status_of(await raw.read_to_end()) in {0, 408}


@pytest.mark.parametrize("sent", [HALF_HEAD, b"\r\n"])
async def test_a_kept_connection_has_the_same_time_for_its_next_head(
    quick: Served, sent: bytes, dial: Dial
) -> None:
    raw = await dial(quick.url)
    await raw.send(request("/healthz"))
    first = await raw.read_response()
    await raw.send(sent)

    second = await raw.read_to_end()

    assert (status_of(first), status_of(second)) == (200, 408)


async def test_headers_without_an_end_are_closed_at_16_kilobytes(api: Served, dial: Dial) -> None:
    raw = await dial(api.url)
    reading = asyncio.create_task(raw.read_to_end())
    await raw.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
    sent = 0
    while not reading.done() and sent < 100_000_000:
        await raw.send(b"X-Filler: " + b"y" * 1_000 + b"\r\n")
        sent += 1_012
        await CLOCK.sleep(0)

    answer = await reading

    assert sent < 10_000_000, "what the kernel holds, and not what the client has"
    assert status_of(answer) in {0, 431}


async def test_a_head_just_over_the_bound_is_told_so(api: Served, dial: Dial) -> None:
    raw = await dial(api.url)
    await raw.send(b"GET / HTTP/1.1\r\nX-Filler: ".ljust(protocol.HEAD_BYTES_MAX, b"y"))

    answer = await raw.read_to_end()

    assert status_of(answer) == 431
    assert b"16,384 bytes" in answer


async def test_a_large_body_behind_a_small_head_is_no_large_head(api: Served, dial: Dial) -> None:
    body = f'{{"name": "large", "payload": "{"x" * 300_000}"}}'
    raw = await dial(api.url)
    headers = (f"Authorization: Bearer {api.platform.key}", "Content-Type: application/json")
    await raw.send(
        request("/v1/jobs", *headers, f"Content-Length: {len(body)}", method="POST", body=body)
    )

    first = await raw.read_response()
    await raw.send(request("/healthz"))
    second = await raw.read_response()

    assert b"header_too_large" not in first
    assert b"request_timeout" not in first
    assert status_of(second) == 200


async def test_a_slow_body_is_closed(
    api: Served, monkeypatch: pytest.MonkeyPatch, dial: Dial
) -> None:
    monkeypatch.setattr(connections, "BODY_PACE_GRACE_S", 0.2)
    authorization = f"Authorization: Bearer {api.platform.key}"
    slow = await dial(api.url)
    await slow.send(request("/v1/jobs", authorization, "Content-Length: 900000", method="POST"))
    unread = await dial(api.url)
    await unread.send(request("/healthz", "Content-Length: 900000"))

    answers = await asyncio.gather(slow.read_to_end(), unread.read_to_end())

    assert [status_of(answer) for answer in answers] == [408, 200]


async def test_a_body_without_an_end_is_closed_although_nobody_reads_it(
    api: Served, monkeypatch: pytest.MonkeyPatch, dial: Dial
) -> None:
    monkeypatch.setattr(protocol, "BODY_BYTES_MAX", 1_000_000)
    raw = await dial(api.url)
    await raw.send(request("/healthz", "Transfer-Encoding: chunked"))
    reading = asyncio.create_task(raw.read_to_end())
    chunk = b"fa00\r\n" + b"x" * 64_000 + b"\r\n"
    sent = 0
    while not reading.done() and sent < 200_000_000:
        await raw.send(chunk)
        sent += len(chunk)
        await CLOCK.sleep(0)

    assert sent < 50_000_000
    assert status_of(await reading) in {0, 200}


async def test_requests_that_are_sent_ahead_are_bounded(api: Served, dial: Dial) -> None:
    raw = await dial(api.url)
    await raw.send(request("/healthz") * 5_000)

    answers = (await raw.read_to_end()).count(b"HTTP/1.1 200")

    assert answers < 5_000


async def test_a_few_requests_that_are_sent_ahead_are_all_answered(api: Served, dial: Dial) -> None:
    raw = await dial(api.url)
    await raw.send(request("/healthz") * 10)

    answers = [await raw.read_response() for _ in range(10)]

    assert {status_of(answer) for answer in answers} == {200}


async def test_half_open_connections_of_an_address_do_not_lock_out_its_keys(
    database: str, tmp_path: Path, dial: Dial
) -> None:
    """Three hundred where thirty are allowed, and all that follow come from the same address."""
    async with serving(database, tmp_path, client_connections_per_address=30) as api:
        half_open = await dial.many(api.url, 300, HALF_HEAD)
        answers = [await api.platform.get("/v1/whoami") for _ in range(20)]
        probe = await api.stranger().get("/readyz")

        async def closed() -> int:
            number = sum(each.is_closed for each in half_open)
            return number if number >= 270 else 0

        await until(closed)

    assert {answer.status for answer in answers} == {200}
    assert probe.status == 200


async def test_many_addresses_fill_the_process_and_the_oldest_half_request_gives_way(
    database: str, tmp_path: Path, dial: Dial
) -> None:
    limits: dict[str, Any] = {"client_connections": 40, "client_connections_per_address": 30}
    async with serving(database, tmp_path, **limits) as api:
        oldest = await dial.many(api.url, 30, HALF_HEAD, from_host="127.0.0.3")
        await dial.many(api.url, 30, b"", from_host="127.0.0.4")
        answers = [await api.platform.get("/v1/whoami") for _ in range(5)]

        async def oldest_are_closed() -> bool:
            return all(each.is_closed for each in oldest[:20])

        await until(oldest_are_closed)

    assert {answer.status for answer in answers} == {200}


async def test_an_address_whose_connections_are_all_busy_gets_no_more(
    database: str, tmp_path: Path, dial: Dial
) -> None:
    async with serving(database, tmp_path, client_connections_per_address=3) as api:
        follow = request("/v1/feed", f"Authorization: Bearer {api.platform.key}")
        streams = await dial.many(api.url, 3, follow)
        heads = [await each.reader.readuntil(b"\r\n\r\n") for each in streams]
        refused = await dial(api.url)
        await refused.send(request("/healthz"))
        elsewhere = await dial(api.url, from_host=OTHER_HOST)
        await elsewhere.send(request("/healthz"))

        assert await refused.read_to_end() == b""
        assert status_of(await elsewhere.read_response()) == 200

    assert {status_of(head) for head in heads} == {200}


async def test_a_response_that_nobody_reads_is_given_up(
    api: Served, monkeypatch: pytest.MonkeyPatch, dial: Dial
) -> None:
    monkeypatch.setattr(connections, "UNREAD_RESPONSE_TIMEOUT_S", 0.2)
    raw = await dial(api.url)
    raw.writer.transport.pause_reading()  # type: ignore[attr-defined] # a transport of a socket
    asked = request("/v1/openapi.json")

    async def is_closed() -> bool:
        raw.writer.write(asked)
        return raw.writer.transport.is_closing()

    assert await until(is_closed)


async def test_a_tls_handshake_that_does_not_end_is_closed(
    database: str, tmp_path: Path, dial: Dial
) -> None:
    certificate, key = write_certificate(tmp_path)
    files: dict[str, Any] = {"tls_certificate": certificate, "tls_key": key}
    async with serving(database, tmp_path, head_timeout=QUICK, **files) as api:
        silent = await dial(api.url)
        begun = await dial(api.url)
        await begun.send(b"\x16\x03\x01\x02\x00\x01")
        trusted = ssl.create_default_context(cafile=str(certificate))
        whole = await dial(api.url, tls=trusted)
        await whole.send(request("/healthz"))
        answer = await whole.read_response()
        half = await dial(api.url, tls=trusted)
        await half.send(HALF_HEAD)

        assert [await each.read_to_end() for each in (silent, begun)] == [b"", b""]
        assert status_of(answer) == 200
        assert status_of(await half.read_to_end()) == 408


async def test_half_open_tls_handshakes_give_way_to_whole_ones(
    database: str, tmp_path: Path, dial: Dial
) -> None:
    certificate, key = write_certificate(tmp_path)
    settings: dict[str, Any] = {
        "tls_certificate": certificate,
        "tls_key": key,
        "client_connections_per_address": 5,
    }
    async with serving(database, tmp_path, **settings) as api:
        await dial.many(api.url, 50, b"\x16\x03\x01")
        whole = await dial(api.url, tls=ssl.create_default_context(cafile=str(certificate)))
        await whole.send(request("/healthz"))

        assert status_of(await whole.read_response()) == 200
