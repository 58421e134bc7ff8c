"""Buckets: failures are counted before the look-up, hooks apart, clients behind proxies (T1)."""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.api.test_events import Sender, hook
from tests.support.raw_http import Dial, request, status_of
from tests.support.serving import Caller, Served, serving

from rota.api.admission import RequestRate
from rota.api.pipeline import RequestRates
from rota.core import api_keys
from rota.core.errors import InvalidSetting

AT_ONCE = 5
PLENTY = RequestRate(100_000, 100_000)
# What is taken does not come back while a test runs, however slow the machine is.
FEW = RequestRate(0.001, AT_ONCE)
ORIGIN = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
async def strict(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Served]:
    """An API whose addresses may fail five times, and whose hooks may be called five times."""
    limits = RequestRates(key=PLENTY, tenant=PLENTY, address=FEW, hook=FEW)
    monkeypatch.setattr("rota.processes.api.build_rate_limits", lambda _api: limits)
    async with serving(database, tmp_path, trusted_proxies=("127.0.0.0/8",)) as served:
        yield served


def wrong_key() -> str:
    """One that could be right."""
    return api_keys.create_key(os.urandom(32)).text


async def guess(api: Served, number: int, **headers: str) -> list[int]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return [
        (await api.stranger(wrong_key()).get("/v1/whoami", **named)).status for _ in range(number)
    ]


async def test_who_guesses_keys_is_refused_before_the_key_is_looked_up(
    strict: Served,
) -> None:
    known = await strict.caller("viewer")
    unused = await strict.caller("viewer")
    assert (await known.get("/v1/whoami")).status == 200
    ticket = (await known.post("/v1/login-tickets")).json["path"].rpartition("=")[2]

    statuses = await guess(strict, 30)
    first_use = await unused.get("/v1/whoami")
    login = await strict.stranger().call("POST", "/ui/session", {"ticket": ticket}, ORIGIN)
    in_use = await known.get("/v1/whoami")

    assert statuses[:AT_ONCE] == [401] * AT_ONCE
    assert set(statuses[AT_ONCE:]) == {429}
    # Right, and not looked up: nothing tells them from guesses.
    assert (first_use.status, login.status) == (429, 429)
    assert in_use.status == 200


async def test_a_key_in_use_is_looked_up_again_whatever_others_at_its_address_do(
    strict: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also once its last look-up is too old to be believed."""
    monkeypatch.setattr("rota.api.admission.KEY_CACHE_S", 0.0)
    known = await strict.caller("viewer")
    before = await known.get("/v1/whoami")
    await guess(strict, 20)
    after = [(await known.get("/v1/whoami")).status for _ in range(10)]
    await strict.conn.execute("update rota.api_keys set revoked_at = rota.now()")
    revoked = await known.get("/v1/whoami")

    assert before.status == 200
    assert set(after) == {200}
    assert revoked.status in {401, 429}


async def test_right_keys_cost_no_failures(strict: Served) -> None:
    callers = [await strict.caller("viewer") for _ in range(4 * AT_ONCE)]
    statuses = {(await each.get("/v1/whoami")).status for each in callers}

    assert statuses == {200}


async def test_a_cookie_that_is_guessed_counts_as_a_failure(strict: Served) -> None:
    name = f"rota-{strict.url.rpartition(':')[2]}"
    statuses = [
        (
            await strict.stranger().get("/ui/session", Cookie=f"{name}={os.urandom(22).hex()[:43]}")
        ).status
        for _ in range(3 * AT_ONCE)
    ]
    without = [(await strict.stranger().get("/ui/session")).status for _ in range(20)]

    assert statuses[-1] == 429
    assert set(without) == {200}


async def test_a_hook_has_a_bucket_of_its_own(strict: Served) -> None:
    busy = Sender(strict, await hook(strict))
    calm = Sender(strict, await hook(strict, name="calm"))

    statuses = [(await busy.send(b"{}", sent_id=f"m{n}")).status for n in range(10)]
    other = await calm.send(b"{}", sent_id="m1")

    assert statuses[:5] == [202] * 5
    assert statuses[-1] == 429
    assert other.status == 202


async def test_signatures_that_are_guessed_lock_out_no_known_sender(
    strict: Served,
) -> None:
    made, unused = await hook(strict), await hook(strict, name="unused")
    sender = Sender(strict, made)
    assert (await sender.send(b"{}", sent_id="m0")).status == 202
    unknown = [
        await Sender(strict, {**made, "url": f"/v1/hooks/hook_{n:032x}"}).send(b"{}")
        for n in range(20)
    ]
    after = [(await sender.send(b"{}", sent_id=f"m{n}")).status for n in range(1, AT_ONCE)]
    first_use = await Sender(strict, unused).send(b"{}", sent_id="m1")
    forged = [
        (await Sender(strict, {**made, "secret": "whsec_" + "A" * 40}).send(b"{}")).status
        for _ in range(20)
    ]

    assert unknown[0].status in {401, 404}
    assert unknown[-1].status == 429
    assert set(after) == {202}
    assert first_use.status == 429
    assert forged[-1] == 429


async def audit_sources(caller: Caller) -> list[str]:
    log = (await caller.get("/v1/audit")).json["data"]
    return [entry["source"] for entry in log]


async def make_job(caller: Caller, **headers: str) -> int:
    draft = {"kind": "nobody.serves.this", "schedule_type": "ON_DEMAND"}
    return (await caller.post("/v1/jobs", draft, **headers)).status


async def test_nobody_is_believed_about_addresses_by_default(api: Served) -> None:
    await make_job(api.platform, X_Forwarded_For="203.0.113.9")

    assert await audit_sources(api.platform) == ["127.0.0.1"]


async def test_behind_a_trusted_proxy_the_client_is_audited_and_limited(
    strict: Served,
) -> None:
    made = await make_job(strict.platform, X_Forwarded_For="6.6.6.6, 203.0.113.9, 127.0.0.5")
    guessing = await guess(strict, 20, X_Forwarded_For="203.0.113.66")
    forged = await guess(strict, 3, X_Forwarded_For="198.51.100.1, 203.0.113.66")
    other = await guess(strict, 3, X_Forwarded_For="203.0.113.67")
    sources = await audit_sources(strict.platform)

    assert made == 201
    assert sources == ["203.0.113.9"]
    assert guessing[-1] == 429
    assert 429 in forged, "what the client says of itself is not believed"
    assert other == [401, 401, 401]


async def test_only_the_header_that_was_chosen_is_read(database: str, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"trusted_proxies": ("127.0.0.1",), "proxy_header": "forwarded"}
    async with serving(database, tmp_path, **settings) as api:
        await make_job(api.platform, X_Forwarded_For="6.6.6.6")
        await make_job(api.platform, Forwarded='for="[2001:db8::7]:4711";proto=https')

        assert await audit_sources(api.platform) == ["2001:db8::7", "127.0.0.1"]


async def test_a_trusted_proxy_may_have_more_connections_than_a_client(
    database: str, tmp_path: Path, dial: Dial
) -> None:
    settings: dict[str, Any] = {
        "trusted_proxies": ("127.0.0.3",),
        "client_connections_per_address": 3,
    }
    async with serving(database, tmp_path, **settings) as api:
        raws = await dial.many(api.url, 10, request("/healthz"), from_host="127.0.0.3")

        assert {status_of(await raw.read_response()) for raw in raws} == {200}


async def test_a_proxy_that_is_no_network_is_refused(database: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match=r"api\.trusted_proxies: 'my-proxy'"):
        async with serving(database, tmp_path, trusted_proxies=("my-proxy",)):
            pass
