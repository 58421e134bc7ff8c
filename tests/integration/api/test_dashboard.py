"""The dashboard's way in: its files, logins, and requests that other sites make up (S4, S8)."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.support.serving import Answer, Caller, Served, serving
from tests.support.shop import until

from rota.api.dashboard.logins import digest_secret
from rota.store import logins

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
JOB = {"name": "by hand", "cron_expression": "0 3 1 1 *"}


@dataclass(kw_only=True)
class Browser:
    """Sends what a browser would: cookies, where the request comes from, the token of the page."""

    session: aiohttp.ClientSession
    url: str
    cookies: dict[str, str]
    token: str = ""

    async def send(
        self,
        method: str,
        path: str,
        json: Any = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> Answer:
        usual: dict[str, str | None] = {"Sec-Fetch-Site": "same-origin"}
        if method != "GET":
            usual |= {"Origin": self.url, "X-CSRF-Token": self.token}
        given = {name: value for name, value in {**usual, **(headers or {})}.items() if value}
        given["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        async with self.session.request(
            method, f"{self.url}{path}", json=json, headers=given
        ) as response:
            text = await response.text()
            for said in response.headers.getall("set-cookie", []):
                for name, morsel in SimpleCookie(said).items():
                    self.cookies[name] = morsel.value
            has_json = "json" in response.headers.get("content-type", "")
            body = await response.json(content_type=None) if has_json else None
            return Answer(response.status, body, response.headers, text)

    async def log_in(self, key: str | None) -> Answer:
        answer = await self.send("POST", "/ui/session", {"key": key})
        if answer.status == 200:
            self.token = answer.json["session"]["csrf_token"]
        return answer


@asynccontextmanager
async def browser_at(api: Served) -> AsyncIterator[Browser]:
    jar = aiohttp.DummyCookieJar()
    async with aiohttp.ClientSession(cookie_jar=jar) as session:
        yield Browser(session=session, url=api.url, cookies={})


@pytest.fixture
async def browser(api: Served) -> AsyncIterator[Browser]:
    async with browser_at(api) as opened:
        yield opened


@pytest.fixture
async def operator(api: Served) -> Caller:
    return await api.caller("operator", user_id="ada")


async def test_a_key_logs_in_and_its_role_decides(
    api: Served, browser: Browser, operator: Caller
) -> None:
    before = await browser.send("GET", "/ui/session")
    logged_in = await browser.log_in(operator.key)
    shown = await browser.send("GET", "/ui/session")
    made = await browser.send("POST", "/ui/v1/jobs", JOB)
    tenants = await browser.send("GET", "/ui/v1/tenants")

    assert before.json == {"session": None}
    assert shown.json == logged_in.json
    who = shown.json["session"]
    assert (who["role"], who["tenant"], who["user_id"]) == ("operator", "default", "ada")
    assert who["permissions"] == ["read", "operate", "define"]
    assert made.status == 201
    assert (tenants.status, tenants.json["code"]) == (403, "not_allowed")
    noted = (await api.platform.get("/v1/audit?actor=ada")).json["data"]
    assert [each["action"] for each in noted] == ["job.create", "login.create"]


async def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(
    browser: Browser, operator: Caller
) -> None:
    answer = await browser.log_in(operator.key)

    said = answer.headers["set-cookie"]
    assert {"HttpOnly", "Path=/", "SameSite=strict"} <= {part.strip() for part in said.split(";")}
    assert "Max-Age=43200" in said
    assert "Secure" not in said
    assert answer.headers["cache-control"] == "no-store"


async def test_behind_something_that_speaks_tls_the_cookie_is_for_tls_only(
    browser: Browser, operator: Caller
) -> None:
    there: dict[str, str | None] = {"Origin": browser.url.replace("http:", "https:")}
    answer = await browser.send("POST", "/ui/session", {"key": operator.key}, there)

    assert "Secure" in answer.headers["set-cookie"]


NO_LOGIN: list[tuple[dict[str, Any], int]] = [
    ({"key": "nonsense"}, 401),
    ({"key": "rota_00000000_" + "0" * 43 + "_000000"}, 401),
    ({"ticket": "nonsense"}, 401),
    ({}, 422),
    ({"key": "a", "ticket": "b"}, 422),
    ({"key": 1}, 422),
    ({"key": "x" * 201}, 422),
    ({"key": "x", "more": 1}, 422),
    ({"key": "x" * 3000}, 413),
]


async def test_what_is_no_key_logs_nobody_in(browser: Browser) -> None:
    answers = [await browser.send("POST", "/ui/session", body) for body, _ in NO_LOGIN]

    assert [answer.status for answer in answers] == [status for _, status in NO_LOGIN]
    for answer in answers:
        assert answer.headers["content-type"] == "application/problem+json"
        assert "set-cookie" not in answer.headers
    assert (await browser.send("GET", "/ui/session")).json == {"session": None}


FOREIGN: dict[str, dict[str, str | None]] = {
    "another origin": {"Origin": "https://evil.example", "Sec-Fetch-Site": None},
    "another site": {"Sec-Fetch-Site": "cross-site"},
    "another host of the site": {"Sec-Fetch-Site": "same-site"},
    "a hidden origin": {"Origin": "null", "Sec-Fetch-Site": None},
    "another port": {"Origin": "http://127.0.0.1:1", "Sec-Fetch-Site": None},
    "no origin": {"Origin": None, "Sec-Fetch-Site": None},
    "no token": {"X-CSRF-Token": None},
    "a wrong token": {"X-CSRF-Token": "A" * 43},
    "a strange token": {"X-CSRF-Token": "ä"},
}


async def test_a_change_that_another_site_made_up_is_refused(
    api: Served, browser: Browser, operator: Caller
) -> None:
    await browser.log_in(operator.key)

    changes = {
        case: await browser.send("POST", "/ui/v1/jobs", JOB, headers)
        for case, headers in FOREIGN.items()
    }
    logouts = {
        case: await browser.send("DELETE", "/ui/session", headers=headers)
        for case, headers in FOREIGN.items()
    }

    for answers in (changes, logouts):
        assert {case: each.json and each.json["code"] for case, each in answers.items()} == (
            dict.fromkeys(FOREIGN, "foreign_request")
        )
    assert (await api.platform.get("/v1/jobs")).json["data"] == []
    assert (await browser.send("GET", "/ui/v1/jobs")).status == 200


async def test_another_site_cannot_log_somebody_in(browser: Browser, operator: Caller) -> None:
    cases = ("another origin", "another site", "no origin")
    body = {"key": operator.key}

    answers = [await browser.send("POST", "/ui/session", body, FOREIGN[case]) for case in cases]

    assert [answer.json["code"] for answer in answers] == ["foreign_request"] * 3
    assert browser.cookies == {}


async def test_a_form_cannot_log_somebody_in(browser: Browser, operator: Caller) -> None:
    headers = {"Content-Type": "text/plain"}

    answer = await browser.send("POST", "/ui/session", {"key": operator.key}, dict(headers))

    assert (answer.status, answer.json["code"]) == (415, "unsupported_media_type")


async def test_another_site_cannot_even_read(browser: Browser, operator: Caller) -> None:
    await browser.log_in(operator.key)

    answer = await browser.send("GET", "/ui/v1/jobs", headers={"Sec-Fetch-Site": "cross-site"})

    assert (answer.status, answer.json["code"]) == (403, "foreign_request")


async def test_a_cookie_is_no_key_and_a_key_is_no_cookie(
    browser: Browser, operator: Caller
) -> None:
    await browser.log_in(operator.key)

    by_cookie = await browser.send("GET", "/v1/jobs")
    by_key = await operator.get("/ui/v1/jobs")

    assert (by_cookie.status, by_key.status) == (401, 401)


async def test_a_login_gets_a_cookie_of_its_own_whatever_was_planted(
    api: Served, browser: Browser, operator: Caller
) -> None:
    await browser.log_in(operator.key)
    ((name, planted),) = browser.cookies.items()
    viewer = await api.caller("viewer")

    async with browser_at(api) as victim:
        victim.cookies = {name: planted}
        await victim.log_in(viewer.key)
        mine = await victim.send("GET", "/ui/session")

    assert victim.cookies[name] != planted
    assert mine.json["session"]["role"] == "viewer"
    # The one that was planted has ended: it was this browser's until it logged in anew.
    assert (await browser.send("GET", "/ui/v1/jobs")).status == 401


async def test_logging_out_ends_the_login_at_once(browser: Browser, operator: Caller) -> None:
    await browser.log_in(operator.key)
    kept = dict(browser.cookies)

    out = await browser.send("DELETE", "/ui/session")
    browser.cookies = kept
    after = await browser.send("GET", "/ui/v1/jobs")

    assert out.status == 204
    assert "rota-" in out.headers["set-cookie"]
    assert (after.status, after.json["code"]) == (401, "unauthenticated")


async def test_a_revoked_key_takes_its_logins_with_it_within_five_seconds(
    api: Served, browser: Browser, operator: Caller
) -> None:
    await browser.log_in(operator.key)
    key_id = (await browser.send("GET", "/ui/session")).json["session"]["key_id"]
    assert (await browser.send("GET", "/ui/v1/jobs")).status == 200

    await api.platform.delete(f"/v1/keys/{key_id}")

    async def is_out() -> bool:
        return (await browser.send("GET", "/ui/v1/jobs")).status == 401

    assert await until(is_out, patience=5)


@pytest.mark.parametrize(
    "change",
    [
        "update rota.logins set expires_at = now()",
        "update rota.api_keys set expires_at = now() where user_id = 'ada'",
    ],
    ids=["login", "key"],
)
async def test_a_login_ends_with_its_time_or_with_its_key(
    api: Served, browser: Browser, operator: Caller, change: str
) -> None:
    answer = await browser.send("POST", "/ui/session", {"key": operator.key})

    await api.conn.execute(change)

    assert answer.json["session"]["expires_at"] is not None
    assert (await browser.send("GET", "/ui/session")).json == {"session": None}


async def idle_for(api: Served, minutes: int) -> None:
    """Let so much time pass since the login was used, without waiting for it."""
    await api.conn.execute(
        "update rota.logins set created_at = created_at - $1::interval, "
        "used_at = used_at - $1::interval",
        timedelta(minutes=minutes),
    )


async def last_use(api: Served) -> timedelta | None:
    """How long ago the use of the login was noted."""
    found: timedelta | None = await api.conn.fetchval("select now() - used_at from rota.logins")
    return found


async def test_a_login_that_nobody_uses_for_half_an_hour_has_ended(
    api: Served, browser: Browser, operator: Caller
) -> None:
    await browser.log_in(operator.key)

    await idle_for(api, 31)

    answer = await browser.send("GET", "/ui/v1/jobs")
    assert (answer.status, await last_use(api)) == (401, None)


async def test_the_use_of_a_login_keeps_it(api: Served, browser: Browser, operator: Caller) -> None:
    await browser.log_in(operator.key)
    digest = digest_secret(next(iter(browser.cookies.values())))
    await idle_for(api, 29)

    answer = await browser.send("GET", "/ui/v1/jobs")
    used = await last_use(api)
    await idle_for(api, 29)
    after = await logins.find_principal(api.conn, digest=digest)

    assert answer.status == 200
    assert used is not None
    assert used < timedelta(minutes=5)
    assert after is not None


async def test_a_page_that_only_refreshes_itself_does_not_keep_its_login(
    api: Served, browser: Browser, operator: Caller
) -> None:
    await browser.log_in(operator.key)
    await idle_for(api, 20)

    answer = await browser.send("GET", "/ui/v1/jobs", headers={"X-User-Idle": "1"})

    assert (answer.status, await last_use(api)) == (200, None)


async def test_a_login_that_has_ended_is_not_brought_back_by_its_use(
    api: Served, browser: Browser, operator: Caller
) -> None:
    await browser.log_in(operator.key)
    digest = digest_secret(next(iter(browser.cookies.values())))
    await idle_for(api, 31)

    await logins.record_use(api.conn, digest=digest)

    assert await logins.find_principal(api.conn, digest=digest) is None


async def test_how_long_an_unused_login_lasts_is_a_setting(database: str, tmp_path: Path) -> None:
    async with serving(database, tmp_path, login_idle=timedelta(hours=2)) as api:
        operator = await api.caller("operator")
        async with browser_at(api) as browser:
            await browser.log_in(operator.key)
            await idle_for(api, 100)
            answer = await browser.send("GET", "/ui/v1/jobs")

    assert answer.status == 200


async def test_a_key_has_only_so_many_logins(api: Served, operator: Caller) -> None:
    key_id = (await operator.get("/v1/whoami")).json["key_id"].removeprefix("key_")
    await api.conn.execute(
        """
        insert into rota.logins (digest, key_id, expires_at)
        select sha256(n::text::bytea), $1::uuid, now() + interval '1 hour'
        from generate_series(1, 60) as n
        """,
        key_id,
    )

    async with browser_at(api) as browser:
        await browser.log_in(operator.key)

    assert await api.conn.fetchval("select count(*) from rota.logins") == 50


async def test_what_a_login_is_found_by_is_not_what_the_browser_has(
    api: Served, browser: Browser, operator: Caller
) -> None:
    await browser.log_in(operator.key)

    (secret,) = browser.cookies.values()
    rows = str(await api.conn.fetch("select * from rota.logins"))

    assert secret not in rows
    assert secret.encode().hex() not in rows


async def test_pages_of_the_dashboard_are_found_by_browsers_and_problems_by_programs(
    api: Served,
) -> None:
    somebody = api.stranger()

    pages = [await somebody.get(path, **HTML) for path in ("/", "/jobs", "/jobs/job_1?tab=runs")]
    problems = [await somebody.get("/jobs"), await somebody.get("/v1/nothing", **HTML)]
    posted = await somebody.post("/jobs", {}, **HTML)

    assert [(page.status, page.headers["content-type"]) for page in pages] == [
        (200, "text/html; charset=utf-8")
    ] * 3
    assert all("script-src 'self'" in page.headers["content-security-policy"] for page in pages)
    assert [(each.status, each.json["code"]) for each in (*problems, posted)] == [
        (404, "not_found")
    ] * 3
