"""Without its database the API answers 503 and says when to come back, whoever asks (A6)."""

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.support.outages import Outage, api_process
from tests.support.serving import Answer, Caller, Served
from tests.support.shop import until

from rota.api.admission import OUTAGE_KEY_AGE_MAX_S, CredentialVerifier
from rota.api.guarded_pool import GuardedPool
from rota.core import api_keys
from rota.core.errors import StoreUnavailable
from rota.sdk.client import AsyncClient
from rota.store.pool import DatabaseAccess, open_pool

JOB = {"name": "x", "schedule_time": "2030-01-01T00:00:00Z"}
UNAVAILABLE = (503, "2")
# More than the bucket of an address without a key holds.
MANY = 300
KINDS = ("stopped", "killed", "frozen")


@dataclass(frozen=True, kw_only=True)
class Standing:
    """An API process, somebody with a key, with a wrong one, and with none."""

    url: str
    session: aiohttp.ClientSession
    known: Caller
    wrong: Caller
    nobody: Caller
    outage: Outage

    def away(self, kind: str) -> AbstractContextManager[None]:
        strike: Callable[[], AbstractContextManager[None]] = getattr(self.outage, kind)
        return strike()

    async def is_not_ready(self) -> bool:
        return (await self.nobody.get("/readyz")).status == 503

    async def works(self) -> bool:
        return (await self.known.get("/v1/jobs")).status == 200


@pytest.fixture
async def standing(tmp_path: Path) -> AsyncIterator[Standing]:
    wrong = api_keys.create_key(os.urandom(32)).text
    with api_process(tmp_path) as (url, key, outage):
        async with aiohttp.ClientSession() as session:

            def caller(key: str | None) -> Caller:
                return Caller(session=session, url=url, key=key)

            yield Standing(
                url=url,
                session=session,
                known=caller(key),
                wrong=caller(wrong),
                nobody=caller(None),
                outage=outage,
            )


async def hammer(caller: Caller, number: int = MANY) -> Counter[tuple[int, str | None]]:
    """Ask for jobs and make some, twenty at a time; count the statuses and their Retry-After."""
    seen: Counter[tuple[int, str | None]] = Counter()
    left = iter(range(number))

    async def one_by_one() -> None:
        for each in left:
            answer = await (
                caller.post("/v1/jobs", JOB) if each % 2 else caller.get("/v1/jobs?limit=1")
            )
            seen[answer.status, answer.headers.get("retry-after")] += 1

    await asyncio.gather(*(one_by_one() for _ in range(20)))
    return seen


@pytest.mark.parametrize("kind", KINDS)
async def test_whoever_asks_in_an_outage_is_told_to_come_back(
    standing: Standing, kind: str
) -> None:
    assert (await standing.known.post("/v1/jobs", JOB)).status == 201
    with standing.away(kind):
        first = await hammer(standing.known, 20)
        await until(standing.is_not_ready)
        callers = (standing.known, standing.wrong, standing.nobody)
        known, wrong, nobody = [await hammer(caller) for caller in callers]
        alive = await standing.nobody.get("/healthz")
        ready = await standing.nobody.get("/readyz")
        who = await standing.known.get("/v1/whoami")
    await until(standing.works, patience=60)
    unknown = await standing.wrong.get("/v1/jobs")
    without = await standing.nobody.get("/v1/jobs")
    made = await standing.known.post("/v1/jobs", JOB | {"name": "y"})

    assert set(first) == {UNAVAILABLE}
    assert known == wrong == nobody == {UNAVAILABLE: MANY}
    assert (alive.status, ready.status, who.status) == (200, 503, 200)
    assert ready.headers["retry-after"] == "2"
    assert "database" in ready.json["detail"]
    assert (unknown.status, without.status, made.status) == (401, 401, 201)


async def test_a_login_outlasts_an_outage(standing: Standing) -> None:
    headers = {"Origin": standing.url, "Sec-Fetch-Site": "same-origin"}
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser:

        async def send(method: str, path: str, **given: Any) -> Answer:
            async with browser.request(
                method, f"{standing.url}{path}", headers=headers, **given
            ) as response:
                return Answer(
                    response.status, await response.json(), response.headers, await response.text()
                )

        await send("POST", "/ui/session", json={"key": standing.known.key})
        assert (await send("GET", "/ui/v1/jobs")).status == 200
        with standing.away("killed"):
            await until(standing.is_not_ready)
            session = await send("GET", "/ui/session")
            jobs = await send("GET", "/ui/v1/jobs")

    assert session.status == 200
    assert session.json["session"]["role"] == "platform"
    assert (jobs.status, jobs.headers["retry-after"]) == UNAVAILABLE


async def test_the_client_waits_for_the_database(standing: Standing) -> None:
    assert await standing.works()
    async with AsyncClient(standing.url, standing.known.key or "", retries=20) as client:
        with standing.away("killed"):
            await until(standing.is_not_ready)
            asking = asyncio.create_task(client.get_whoami())
            listing = asyncio.create_task(client.list_jobs())
            await asking
            assert not listing.done()
        found = await listing

    assert found is not None


async def test_probes_are_not_counted_against_those_without_a_key(standing: Standing) -> None:
    for _ in range(MANY):
        await standing.nobody.get("/healthz")
        ready = await standing.nobody.get("/readyz")

    unknown = await standing.wrong.get("/v1/jobs")

    assert (ready.status, unknown.status) == (200, 401)


async def test_a_key_that_was_not_used_lately_is_not_trusted_in_an_outage(api: Served) -> None:
    digest = api_keys.parse_key(api.platform.key or "").digest
    monotonic = 0.0
    access = DatabaseAccess(url=api.access.url)
    async with open_pool(access, size=1) as made:
        pool = GuardedPool(made, monotonic=lambda: monotonic)
        admission = CredentialVerifier(
            pool=pool, monotonic=lambda: monotonic, now=api.database_clock.now
        )
        before = await admission.find_principal(digest, lambda: None)
        monotonic = OUTAGE_KEY_AGE_MAX_S
        pool.record_reply()
        pool.record_outage(StoreUnavailable(reason="it went away"))
        in_time = await admission.find_principal(digest, lambda: None)
        monotonic += 1
        pool.record_reply()
        pool.record_outage(StoreUnavailable(reason="it went away"))

        with pytest.raises(StoreUnavailable):
            await admission.find_principal(digest, lambda: None)

    assert before is not None
    assert in_time == before
