"""Connections and requests of somebody without a key."""

import asyncio
import json
import resource
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import aiohttp

from rota.core import signatures
from tests.attack.attacks import Findings, attack
from tests.attack.target import CLOCK, Target
from tests.support.serving import Answer, Caller

HALF_OPEN = 10_000
# How long others are watched while an attack holds what it got.
OBSERVED_S = 3.0
HEAD = b"GET /v1/whoami HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
# More than the time that a request's head may take.
HEAD_WAIT_S = 14.0
# Hundreds of requests at once are answered one after the other, others among them.
FLOOD_DELAY_MS_MAX = 200.0


class RawConnection(NamedTuple):
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def is_closed(self) -> bool:
        """Whether the server closes it within the time that a head may take."""
        with suppress(TimeoutError, ConnectionError):
            await asyncio.wait_for(self.reader.read(), HEAD_WAIT_S)
            return True
        return self.reader.at_eof() or self.reader.exception() is not None


async def open_raw(target: Target, data: bytes = b"") -> RawConnection | None:
    """A connection that has sent this; None if it was refused."""
    with suppress(OSError, TimeoutError):
        opening = asyncio.open_connection("127.0.0.1", target.port)
        connection = RawConnection(*await asyncio.wait_for(opening, 5))
        connection.writer.write(data)
        return connection
    return None


async def exchange(target: Target, data: bytes) -> bytes:
    """What the server answers to these bytes, until it closes the connection or stays silent."""
    answer = b""
    with suppress(OSError, TimeoutError):
        reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
        try:
            writer.write(data)
            await writer.drain()
            while piece := await asyncio.wait_for(reader.read(65_536), 3):
                answer += piece
        finally:
            writer.close()
    return answer


@attack("half-open")
async def keep_connections_half_open(target: Target, findings: Findings) -> None:
    """10,000 connections send half a header and wait."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, HALF_OPEN + 2_000), hard))
    connections: list[RawConnection] = []
    try:
        for _ in range(HALF_OPEN // 200):
            opened = await asyncio.gather(*(open_raw(target, HEAD) for _ in range(200)))
            connections += [each for each in opened if each is not None]
        findings.figures.append(f"{len(connections):,} of {HALF_OPEN:,} connections were opened")
        await expect_served(target, findings, "while they wait")
        # The newest is the last that the server closes.
        findings.expect(await connections[-1].is_closed(), "the newest stays open")
        await expect_served(target, findings, "when they are closed")
    finally:
        for each in connections:
            each.writer.transport.abort()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def expect_served(target: Target, findings: Findings, when: str) -> None:
    """A key that is in use is served on its connection, a probe on its own listener."""
    asked = await target.victim.viewer.get("/v1/whoami")
    findings.expect(asked.status == 200, f"{when}: a valid key got {asked.status}")
    fresh = await target.call_fresh(
        Caller(session=target.session, url=target.health_url, key=None), "/livez"
    )
    findings.expect(fresh is not None and fresh.status == 200, f"{when}: the probe got no answer")


@attack("silent")
async def stay_silent(target: Target, findings: Findings) -> None:
    """Connections that send nothing, or half a header, are closed."""
    sent = [data for data in (b"", HEAD, b"G") for _ in range(20)]
    opened = [await open_raw(target, data) for data in sent]
    connections = [each for each in opened if each is not None]
    findings.expect(len(connections) == len(sent), "a connection was refused")
    closed = await asyncio.gather(*(each.is_closed() for each in connections))
    for data, is_closed in zip(sent, closed, strict=False):
        findings.expect(is_closed, f"open after {HEAD_WAIT_S:.0f} s: {data!r}")
    for each in connections:
        each.writer.transport.abort()


@attack("endless-head")
async def send_endless_headers(target: Target, findings: Findings) -> None:
    """A header that never ends is cut off at 16 kB."""
    for piece in (b"X-Filler: " + b"a" * 1000 + b"\r\n", b"a" * 1000):
        sent = 0
        with suppress(OSError, TimeoutError):
            _, writer = await asyncio.open_connection("127.0.0.1", target.port)
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
            while sent < 50_000_000:
                writer.write(piece)
                sent += len(piece)
                await asyncio.wait_for(writer.drain(), 5)
        findings.figures.append(f"cut off after {sent / 1e6:.1f} MB were written")
        findings.expect(sent < 40_000_000, f"{sent:,} bytes of headers were taken")
    memory = read_memory_mb(target.process.pid)
    findings.figures.append(f"the process uses {memory} MB")


def read_memory_mb(pid: int) -> int:
    with Path(f"/proc/{pid}/status").open() as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) // 1024


@attack("slow-body")
async def send_bodies_slowly(target: Target, findings: Findings) -> None:
    """Bodies that are announced and never sent hold nothing for long."""
    head = (
        b"POST /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Content-Length: 900000\r\n\r\n{"
    )
    opened = [await open_raw(target, head) for _ in range(100)]
    async with target.watch_bystander(findings, "100 half bodies"):
        await CLOCK.sleep(OBSERVED_S)
    for each in opened:
        if each is not None:
            each.writer.transport.abort()


@attack("odd-http")
async def send_odd_requests(target: Target, findings: Findings) -> None:
    """Requests that a proxy could read differently, and hosts that are not ours."""
    odd = {
        "no host": b"GET /login HTTP/1.1\r\n\r\n",
        "two hosts": b"GET /login HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n",
        "foreign host": b"GET /login HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "length and chunks": b"POST /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n",
        "two lengths": b"POST /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\n"
        b"Content-Length: 5\r\n\r\nabcde",
        "folded header": b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\r\n b\r\n\r\n",
        "traversal": b"GET /docs/../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    }
    for name, data in odd.items():
        answer = await exchange(target, data)
        findings.expect(not answer.startswith(b"HTTP/1.1 2"), f"{name}: {answer[:40]!r}")


@attack("guessing")
async def guess_keys(target: Target, findings: Findings) -> None:
    """5,000 wrong keys neither lock out probes and hooks nor slow others down."""
    hook = await target.victim.admin.post("/v1/hooks", {"name": "guessed", "type": "a.b"})
    first = await send_signed(target, hook.json, "first")
    findings.expect(first.status == 202, f"a signed request got {first.status}")
    guesses = [
        Caller(session=target.session, url=target.url, key=f"rota_{number:08d}_{'a' * 43}")
        for number in range(5_000)
    ]
    async with target.watch_bystander(findings, "5,000 guesses"):
        refused = 0
        for start in range(0, len(guesses), 50):
            answers = await asyncio.gather(
                *(each.get("/v1/whoami") for each in guesses[start : start + 50])
            )
            refused += sum(answer.status == 429 for answer in answers)
            findings.expect(
                all(answer.status in (401, 429) for answer in answers), "a guess was let in"
            )
    findings.figures.append(f"{refused:,} of 5,000 were refused without a look-up")
    findings.expect(refused > 4_000, f"only {refused} guesses were refused by rate")
    for path in ("/healthz", "/readyz"):
        probe = await target.nobody.get(path)
        findings.expect(probe.status == 200, f"{path} got {probe.status} after the guesses")
    again = await send_signed(target, hook.json, "again")
    findings.expect(again.status == 202, f"a hook in use got {again.status} after the guesses")


async def send_signed(target: Target, hook: dict[str, str], message_id: str) -> Answer:
    """Send an event to a hook, signed with its secret."""
    body = json.dumps({"a": 1}).encode()
    key = signatures.parse_secret(hook["secret"])
    headers = signatures.build_headers(body, [key], id=message_id, at=CLOCK.now())
    headers["Content-Type"] = "application/json"
    async with target.session.post(
        target.url + hook["url"], data=body, headers=headers
    ) as response:
        return Answer(response.status, None, response.headers, await response.text())


@attack("streams")
async def open_many_streams(target: Target, findings: Findings) -> None:
    """One viewer follows a waiting run 600 times and opens 100 feeds."""
    run_id = await target.submit(target.intruder.operator, "attack.wait", {"seconds": 120})
    headers = {"Authorization": f"Bearer {target.intruder.viewer.key}"}
    paths = [f"/v1/runs/{run_id}/logs?follow=true"] * 600 + ["/v1/feed"] * 100
    opened: list[aiohttp.ClientResponse] = []

    async def follow(path: str) -> int:
        try:
            response = await target.session.get(target.url + path, headers=headers)
        except aiohttp.ClientError:
            return 0
        opened.append(response)
        return response.status

    async with target.watch_bystander(findings, "700 streams", FLOOD_DELAY_MS_MAX):
        statuses = await asyncio.gather(*(follow(path) for path in paths))
        await CLOCK.sleep(OBSERVED_S)
    granted = statuses.count(200)
    findings.figures.append(f"{granted} of {len(paths)} streams were granted")
    findings.expect(granted <= 10, f"{granted} streams of one key were granted")
    for response in opened:
        response.close()
    await target.intruder.operator.post(f"/v1/runs/{run_id}/cancel")
