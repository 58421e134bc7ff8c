"""What an HTTP payload may say (E17, limits of every input)."""

from datetime import timedelta

import pytest

from rota.contract.payloads.http import RESPONSE_BYTES_MAX
from rota.core.errors import InvalidInput
from rota.executors.http.executor import build_client_timeout
from rota.executors.http.spec import REQUEST_BODY_MAX_BYTES, read_request

URL = "https://example.org/hook"


def test_a_full_payload_is_read_with_all_its_fields() -> None:
    request = read_request(
        {
            "method": "POST",
            "url": URL,
            "headers": {"X-Team": "billing"},
            "body": {"id": 7, "name": "ü"},
            "timeout": "20s",
            "redirects": 3,
            "ok": ["2xx", 404],
            "max_body": 1000,
        }
    )

    assert (request.method, request.target.url) == ("POST", URL)
    assert request.headers == {"X-Team": "billing", "Content-Type": "application/json"}
    assert request.body == '{"id":7,"name":"ü"}'.encode()
    assert (request.timeout, request.redirects) == (timedelta(seconds=20), 3)
    assert request.ok == {*range(200, 300), 404}
    assert request.max_body == 1000


def test_what_is_left_out_has_its_default() -> None:
    request = read_request({"url": URL})

    assert (request.method, request.body, request.timeout) == ("GET", None, None)
    assert (request.redirects, request.max_body) == (0, RESPONSE_BYTES_MAX)
    assert request.ok == set(range(200, 300))


def test_a_content_type_of_the_payload_wins() -> None:
    request = read_request({"url": URL, "body": "<a/>", "headers": {"content-type": "text/xml"}})

    assert request.headers == {"content-type": "text/xml"}


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        (None, "payload"),
        (URL, "payload"),
        ({}, "url"),
        ({"url": 1}, "url"),
        ({"url": "ftp://example.org/"}, "url"),
        ({"url": URL, "verify": False}, "payload.verify"),
        ({"url": URL, "proxy": "http://x"}, "payload.proxy"),
        ({"url": URL, "method": "get"}, "method"),
        ({"url": URL, "method": "TRACE"}, "method"),
        ({"url": URL, "method": "CONNECT"}, "method"),
        ({"url": URL, "method": ["GET"]}, "method"),
        ({"url": URL, "headers": []}, "headers"),
        ({"url": URL, "headers": {f"X-{n}": "" for n in range(33)}}, "headers"),
        ({"url": URL, "headers": {"X": "x" * 8192}}, "headers"),
        ({"url": URL, "headers": {"X-A": "1", "x-a": "2"}}, "headers"),
        ({"url": URL, "headers": {"X A": "1"}}, "headers"),
        ({"url": URL, "headers": {"X:A": "1"}}, "headers"),
        ({"url": URL, "headers": {"": "1"}}, "headers"),
        ({"url": URL, "headers": {"X": "a\r\nHost: b"}}, "headers.X"),
        ({"url": URL, "headers": {"X": "a\0b"}}, "headers.X"),
        ({"url": URL, "headers": {"X": "€"}}, "headers.X"),
        ({"url": URL, "headers": {"X": 1}}, "headers.X"),
        *(
            ({"url": URL, "headers": {name: "x"}}, "headers")
            for name in (
                *("Host", "connection", "Transfer-Encoding", "Content-Length", "TE", "Upgrade"),
                *("Proxy-Authorization", "Keep-Alive", "Trailer", "Expect", "User-Agent"),
                *("Idempotency-Key", "Rota-Attempt", "rota-anything", "Accept-Encoding"),
            )
        ),
        ({"url": URL, "body": 7}, "body"),
        ({"url": URL, "body": True}, "body"),
        ({"url": URL, "body": {"x": float("nan")}}, "body"),
        ({"url": URL, "body": {"x": object()}}, "body"),
        ({"url": URL, "body": "\ud800"}, "body"),
        ({"url": URL, "body": "x" * (REQUEST_BODY_MAX_BYTES + 1)}, "body"),
        ({"url": URL, "timeout": 5}, "timeout"),
        ({"url": URL, "timeout": "0s"}, "timeout"),
        ({"url": URL, "timeout": "25h"}, "timeout"),
        ({"url": URL, "redirects": 4}, "redirects"),
        ({"url": URL, "redirects": True}, "redirects"),
        ({"url": URL, "redirects": -1}, "redirects"),
        ({"url": URL, "ok": []}, "ok"),
        ({"url": URL, "ok": 200}, "ok"),
        ({"url": URL, "ok": ["2x"]}, "ok[0]"),
        ({"url": URL, "ok": [99]}, "ok[0]"),
        ({"url": URL, "ok": [True]}, "ok[0]"),
        ({"url": URL, "max_body": RESPONSE_BYTES_MAX + 1}, "max_body"),
        ({"url": URL, "max_body": "1MB"}, "max_body"),
    ],
)
def test_a_wrong_payload_is_refused_by_the_name_of_its_field(payload: object, field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        read_request(payload)

    assert refusal.value.field == field
    assert refusal.value.wanted


@pytest.mark.parametrize(
    ("timeout", "first_byte"), [(None, 30), ("5s", 30), ("2m", 120), ("1h", 300)]
)
def test_a_payload_that_gives_itself_time_waits_longer_for_the_first_byte(
    timeout: str | None, first_byte: float
) -> None:
    chosen = build_client_timeout(read_request({"url": URL, "timeout": timeout}))

    assert (chosen.sock_connect, chosen.sock_read) == (5, first_byte)
