"""Cookies and requests of other sites, without a server: names, origins, tokens."""

import pytest
from starlette.requests import Request

from rota.api.dashboard import logins
from rota.api.problems import ProblemError

SECRET = "A" * 43


def request(method: str = "GET", scheme: str = "http", **headers: str) -> Request:
    named = {"host": "rota.example:7070"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    return Request(
        {
            "type": "http",
            "method": method,
            "scheme": scheme,
            "path": "/ui/v1/jobs",
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in named.items()],
        }
    )


def is_refused(asked: Request) -> bool:
    try:
        logins.refuse_foreign(asked)
    except ProblemError as refusal:
        return refusal.code == "foreign_request"
    return False


def test_a_cookie_of_tls_can_be_set_by_nobody_but_this_host() -> None:
    assert logins.cookie_name(request(scheme="https")) == "__Host-rota"


def test_two_installations_on_one_machine_do_not_share_a_cookie() -> None:
    names = {
        logins.cookie_name(request(host=host)) for host in ("localhost:7070", "localhost:7071")
    }

    assert names == {"rota-7070", "rota-7071"}


@pytest.mark.parametrize(
    "text", ["", "A" * 42, "A" * 44, "A" * 42 + "=", "ä" * 43, "A" * 42 + "\n"]
)
def test_what_cannot_be_our_cookie_is_not_looked_for(text: str) -> None:
    cookie = f"rota-7070={text}"

    assert logins.read_secret(request(cookie=cookie.encode().decode("latin-1"))) is None


def test_our_own_cookie_is_read() -> None:
    assert logins.read_secret(request(cookie=f"x=1; rota-7070={SECRET}")) == SECRET


@pytest.mark.parametrize(
    ("headers", "may_read", "may_change"),
    [
        ({}, True, False),
        ({"sec_fetch_site": "same-origin"}, True, True),
        ({"sec_fetch_site": "none"}, True, False),
        ({"sec_fetch_site": "same-site"}, False, False),
        ({"sec_fetch_site": "cross-site"}, False, False),
        ({"origin": "http://rota.example:7070"}, True, True),
        ({"origin": "https://rota.example:7070"}, True, True),
        ({"origin": "http://rota.example"}, False, False),
        ({"origin": "http://rota.example.evil:7070"}, False, False),
        ({"origin": "null"}, False, False),
        ({"origin": "http://evil", "sec_fetch_site": "same-origin"}, False, False),
        ({"origin": "http://rota.example:7070", "sec_fetch_site": "cross-site"}, False, False),
    ],
    ids=str,
)
def test_only_our_own_page_may_change_something(
    headers: dict[str, str], may_read: bool, may_change: bool
) -> None:
    assert is_refused(request("GET", **headers)) is not may_read
    assert is_refused(request("POST", **headers)) is not may_change


def test_a_token_belongs_to_one_login_and_does_not_tell_its_secret() -> None:
    token = logins.derive_csrf_token(SECRET)

    logins.refuse_forged(request("POST", x_csrf_token=token), SECRET)
    with pytest.raises(ProblemError):
        logins.refuse_forged(request("POST", x_csrf_token=token), "B" * 43)
    assert SECRET not in token
    assert logins.digest_secret(SECRET).hex() not in token
