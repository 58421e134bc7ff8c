"""Measures submissions over HTTP (paced, flat out, in bulk), from Python in bulk (P3), and events.

A real `rota api` process serves the requests; this process sends them, on the same cores.
"""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any, Final

import aiohttp

from rota.core.time.moments import to_rfc3339
from rota.sdk.transaction import in_transaction
from rota.store.pool import open_connection
from rota_bench import database
from rota_bench.errors import BenchFailed
from rota_bench.measures import compute_spread
from rota_bench.trial import Trial

REQUESTS_PER_S: Final = 500
CONCURRENT_CALLERS: Final = 64
BULK_SIZE: Final = 1_000
CONCURRENT_BULKS: Final = 2
JSON_HEADERS: Final = {"Content-Type": "application/json"}
ACCEPTED_STATUSES: Final = frozenset({201, 202})
DUE_IN: Final = timedelta(days=365)
# Enough requests to open connections and prepare plans.
WARM_UP_REQUESTS: Final = 200

Send = Callable[[str, Any], Awaitable[None]]


async def measure_api(trial: Trial) -> dict[str, float]:
    port = find_free_port()
    trial.fleet.environment["ROTA_API__REQUESTS_PER_SECOND"] = "1000000"
    trial.fleet.environment["ROTA_API__BURST"] = "1000000"
    await trial.fleet.start("api", "--port", str(port))
    await trial.fleet.wait_ready()
    key = (trial.fleet.folder / ".rota" / "admin.key").read_text().strip()
    connector = aiohttp.TCPConnector(limit=2 * CONCURRENT_CALLERS)
    headers = {"Authorization": f"Bearer {key}"}
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
        send = create_sender(session, f"http://127.0.0.1:{port}")
        new_job = partial(send_job, trial, send)
        await send_flat_out(trial, new_job, WARM_UP_REQUESTS)
        figures = compute_spread("api_submit_ms", await send_paced(trial, new_job))
        number = trial.sizes.submits
        async with measure_writes(trial, "api_submit", number) as single:
            figures["api_submits_per_s"] = number / await send_flat_out(trial, new_job, number)
        figures["api_events_per_s"] = await measure_events(trial, send)
        async with measure_writes(trial, "api_bulk", trial.sizes.bulks * BULK_SIZE) as bulk:
            figures["api_bulk_jobs_per_s"] = await measure_bulk(trial, send)
    figures["python_bulk_jobs_per_s"] = await measure_python_bulk(trial)
    return figures | single | bulk


@asynccontextmanager
async def measure_writes(trial: Trial, key: str, number: int) -> AsyncIterator[dict[str, float]]:
    """Yield figures that are filled at the end of the block: rows and WAL per submission."""
    figures: dict[str, float] = {}
    async with open_connection(trial.access) as conn:
        before = await database.measure_writes(conn)
        yield figures
        after = await database.measure_writes(conn)
    figures[f"{key}_written.rows"] = (after.written_rows - before.written_rows) / number
    figures[f"{key}_written.wal_bytes"] = (after.wal_bytes - before.wal_bytes) / number


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def create_sender(session: aiohttp.ClientSession, url: str) -> Send:
    async def send(path: str, body: Any) -> None:
        data = body if isinstance(body, bytes) else encode(body)
        async with session.post(f"{url}{path}", data=data, headers=JSON_HEADERS) as answer:
            if answer.status not in ACCEPTED_STATUSES:
                raise BenchFailed(who="the API", reason=f"returned {await answer.text()}")
            await answer.read()

    return send


def encode(body: Any) -> bytes:
    return json.dumps(body).encode()


def build_job(trial: Trial) -> dict[str, Any]:
    far = to_rfc3339(trial.clock.now() + DUE_IN)
    name = f"bench {trial.rng.randbytes(8).hex()}"
    return {"name": name, "kind": "bench.noop", "schedule_time": far, "payload": {"n": 1}}


async def send_job(trial: Trial, send: Send) -> None:
    await send("/v1/jobs", build_job(trial))


async def measure_events(trial: Trial, send: Send) -> float:
    """Return events per second, sent one by one; each creates a run of one job."""
    listener = {"name": "bench events", "kind": "bench.noop", "schedule": {"event": "bench"}}
    await send("/v1/jobs", listener)
    number = trial.sizes.submits // 2

    async def new_event() -> None:
        await send("/v1/events", {"type": "bench", "data": {"n": 1}})

    return number / await send_flat_out(trial, new_event, number)


async def send_paced(trial: Trial, send_one: Callable[[], Awaitable[None]]) -> list[float]:
    """Return milliseconds from the planned send time to the response, at a steady rate."""
    clock, times = trial.clock, []
    start = clock.monotonic()

    async def one(due: float) -> None:
        await send_one()
        times.append(1000 * (clock.monotonic() - due))

    sent = []
    for number in range(REQUESTS_PER_S * trial.sizes.lag_seconds):
        due = start + number / REQUESTS_PER_S
        if (rest := due - clock.monotonic()) > 0:
            await clock.sleep(rest)
        sent.append(asyncio.create_task(one(due)))
    await asyncio.gather(*sent)
    return times


async def send_flat_out(
    trial: Trial, send_one: Callable[[], Awaitable[None]], number: int
) -> float:
    """Return the seconds for `number` requests by concurrent callers that wait for responses."""
    left = iter(range(number))
    start = trial.clock.monotonic()

    async def caller() -> None:
        for _ in left:
            await send_one()

    await asyncio.gather(*(caller() for _ in range(CONCURRENT_CALLERS)))
    return trial.clock.monotonic() - start


async def measure_bulk(trial: Trial, send: Send) -> float:
    """Return jobs per second, with a thousand jobs per request.

    Bodies are encoded before the clock starts, because the caller shares the processors of the
    service that is measured.
    """
    number = trial.sizes.bulks
    bodies = [encode({"jobs": [build_job(trial) for _ in range(BULK_SIZE)]}) for _ in range(number)]
    left = iter(bodies)
    start = trial.clock.monotonic()

    async def caller() -> None:
        for body in left:
            await send("/v1/jobs/bulk", body)

    await asyncio.gather(*(caller() for _ in range(CONCURRENT_BULKS)))
    return number * BULK_SIZE / (trial.clock.monotonic() - start)


async def measure_python_bulk(trial: Trial) -> float:
    """Return submissions per second with `rota.in_transaction`, a thousand per transaction."""
    number = trial.sizes.bulks
    left = iter([[build_job(trial) for _ in range(BULK_SIZE)] for _ in range(number)])

    async def caller() -> None:
        async with open_connection(trial.access) as conn:
            for jobs in left:
                async with conn.transaction():
                    await in_transaction(conn).create_jobs(jobs)

    start = trial.clock.monotonic()
    await asyncio.gather(*(caller() for _ in range(CONCURRENT_BULKS)))
    return number * BULK_SIZE / (trial.clock.monotonic() - start)
