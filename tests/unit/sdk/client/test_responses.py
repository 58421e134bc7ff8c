"""What came back, and what is said when it is not understood. Proves a part of I3."""

import socket
import ssl
from typing import Any

import msgspec
import pytest

from rota.sdk.client.connection_errors import describe_cause
from rota.sdk.client.discovery import AddressSource, ApiAddress, ApiEndpoint
from rota.sdk.client.errors import Unreachable, Unreadable
from rota.sdk.client.generated.schemas import CreatedJob
from rota.sdk.client.requests import ApiRequest
from rota.sdk.client.responses import build_api_error, read_response

PLACE = ApiEndpoint(
    address=ApiAddress(url="http://there:7070", source=AddressSource.ARGUMENT),
    key=None,
    hint="no key was found",
)
ASKED = ApiRequest(method="POST", path="/v1/jobs", response_type=CreatedJob)
MADE: dict[str, Any] = {
    "job_id": "job_1",
    "run_id": None,
    "deduplicated": False,
    "next_run_at": "2026-07-01T12:00:00Z",
    "name": "a",
    "status": "active",
    "warnings": [],
}


def read(body: Any) -> CreatedJob:
    return read_response(ASKED, msgspec.json.encode(body), PLACE)


def test_a_field_that_a_newer_api_has_is_passed_over() -> None:
    assert read(MADE | {"something_new": 1}).job_id == "job_1"


@pytest.mark.parametrize("body", [b"<html>", b"", b"\xff", b"[]", b'{"job_id": 1}'])
def test_an_answer_of_something_else_is_an_error_that_says_so(body: bytes) -> None:
    with pytest.raises(Unreadable) as refused:
        read_response(ASKED, body, PLACE)

    assert "http://there:7070" in str(refused.value)
    assert "POST /v1/jobs" in str(refused.value)


def test_a_page_of_a_proxy_is_an_error_like_any_other() -> None:
    error = build_api_error(502, {}, b"<h1>Bad\n Gateway</h1>", PLACE)

    assert (error.status, error.code) == (502, "unknown")
    assert str(error) == "502: <h1>Bad Gateway</h1>"


def test_an_empty_answer_is_told_by_its_status() -> None:
    assert str(build_api_error(504, {}, b"", PLACE)) == "504 Gateway Timeout"
    assert str(build_api_error(599, {}, b"", PLACE)) == "status 599"


def test_a_redirect_is_not_followed_but_told() -> None:
    error = build_api_error(308, {"location": "https://there/"}, b"", PLACE)

    assert "https://there/" in str(error)


@pytest.mark.parametrize(
    ("said", "read"), [("3", 3.0), ("", None), ("soon", None), ("nan", None), ("-1", None)]
)
def test_when_to_come_back_is_in_seconds(said: str, read: float | None) -> None:
    assert build_api_error(503, {"retry-after": said}, b"", PLACE).retry_after == read


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionRefusedError(111, "Connect call failed"), "connection refused"),
        (socket.gaierror(-2, "Name or service not known"), "name or service not known"),
        (TimeoutError(), "timed out"),
        (ssl.SSLCertVerificationError(1, "[SSL] certificate verify failed"), "certificate"),
        (RuntimeError("other"), "other"),
    ],
)
def test_the_reason_is_what_the_machine_says(error: Exception, said: str) -> None:
    wrapped = RuntimeError("a library's own words")
    wrapped.__cause__ = error

    assert said in describe_cause(wrapped if isinstance(error, OSError) else error)


def test_who_cannot_be_reached_is_told_in_one_sentence() -> None:
    address = ApiAddress(url="http://there:1", source=AddressSource.VARIABLE)
    error = Unreachable(url="http://there:1", reason="connection refused", address=address)

    assert str(error) == (
        "cannot reach http://there:1 (from ROTA_URL): connection refused; "
        "start Rota with `rota up`, or set its address with url= or ROTA_URL"
    )
