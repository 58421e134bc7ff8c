"""A client that submits over HTTP and writes down every answer.

Each submission has an idempotency key and is repeated under it until it is acknowledged, as the
documentation tells callers to. The client asks again sooner than `Retry-After` says, so that the
time at which the API is back is seen exactly.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID, uuid4

import aiohttp

from rota.runtime.clock import SystemClock

SUBMITTERS: Final = 12
AGAIN_S: Final = 0.25
TIMEOUT_S: Final = 20.0
UNAVAILABLE: Final = 503
TICK_KIND: Final = "faults.tick"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back: a status, or the name of what went wrong instead. `at` is monotonic."""

    at: float
    said: str
    has_retry_after: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledged:
    """A job or a submission that the API answered for with success."""

    job_id: UUID
    body: Mapping[str, Any]
    at: float


@dataclass(kw_only=True)
class SubmittingClient:
    url: str
    key: str
    rate: float
    once_s: float = 1.0
    clock: SystemClock = field(default_factory=SystemClock)
    acknowledged: list[Acknowledged] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    is_over: bool = False
    # Submissions that were not acknowledged when the client gave up.
    given_up: int = 0
    numbers: int = 0

    async def run(self) -> None:
        """Submit runs at the rate until `is_over`: one of six may run once at most."""
        async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as group:
            for number in range(SUBMITTERS):
                group.create_task(self._keep_submitting(session, number))

    async def _keep_submitting(self, session: aiohttp.ClientSession, number: int) -> None:
        period = SUBMITTERS / self.rate
        due = self.clock.monotonic() + number / self.rate
        while not self.is_over:
            await self.clock.sleep(max(0.0, due - self.clock.monotonic()))
            due = max(due + period, self.clock.monotonic())
            self.numbers += 1
            await self.submit(one_time_job(self.numbers, self.once_s), session=session)

    async def submit(
        self, body: Mapping[str, Any], *, session: aiohttp.ClientSession | None = None
    ) -> UUID | None:
        """Submit a job until it is acknowledged; None if the client gave up before."""
        if session is None:
            async with aiohttp.ClientSession() as own:
                return await self.submit(body, session=own)
        headers = {"Authorization": f"Bearer {self.key}", "Idempotency-Key": uuid4().hex}
        while True:
            job_id = await self._post(session, body, headers)
            if job_id is not None:
                now = self.clock.monotonic()
                self.acknowledged.append(Acknowledged(job_id=job_id, body=body, at=now))
                return job_id
            if self.is_over:
                self.given_up += 1
                return None
            await self.clock.sleep(AGAIN_S)

    async def _post(
        self, session: aiohttp.ClientSession, body: Mapping[str, Any], headers: dict[str, str]
    ) -> UUID | None:
        limit = aiohttp.ClientTimeout(total=TIMEOUT_S)
        url = f"{self.url}/v1/jobs"
        try:
            async with session.post(url, json=body, headers=headers, timeout=limit) as response:
                waits = "Retry-After" in response.headers
                said = await response.json(content_type=None)
                self._note(str(response.status), has_retry_after=waits)
                if response.status in {200, 201}:
                    return UUID(hex=said["job_id"].rpartition("_")[2])
        except TimeoutError:
            self._note("timeout")
        except aiohttp.ClientConnectorError:
            self._note("refused")
        except (aiohttp.ClientError, ValueError):
            self._note("broken")
        return None

    def _note(self, said: str, *, has_retry_after: bool = False) -> None:
        now = self.clock.monotonic()
        self.answers.append(Answer(at=now, said=said, has_retry_after=has_retry_after))


def one_time_job(number: int, seconds: float) -> dict[str, Any]:
    """Five of six may be repeated and are over at once; the sixth takes its time and may not."""
    if number % 6:
        return {"name": f"once {number}", "kind": "faults.quick"}
    return {
        "name": f"once {number}",
        "kind": "faults.slow",
        "payload": {"seconds": seconds},
        "guarantee": "at_most_once",
    }


def ticking_job(number: int) -> dict[str, Any]:
    """A job of which every second must be one run, whatever happens."""
    return {
        "name": f"tick {number}",
        "kind": TICK_KIND,
        "schedule": {
            "every": "1s",
            "misfire": {"on_outage": "all", "max_catchup": 1000},
        },
        "overlap": "allow",
    }


def exclusive_job(number: int, kind: str, seconds: float) -> dict[str, Any]:
    """A job that is due more often than it can run, and whose runs must not meet."""
    return {
        "name": f"exclusive {number}",
        "kind": kind,
        "payload": {"seconds": seconds},
        "schedule": {"every": "2s"},
        "overlap": "skip",
    }


def long_job(number: int, kind: str, seconds: float) -> dict[str, Any]:
    """A job whose attempt is under way from before the fault until after it."""
    return {"name": f"long {number}", "kind": kind, "payload": {"seconds": seconds}}
