"""What a response makes of the attempt: retries, waits, results (E8, E17)."""

import gzip
import json
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from rota.core.outcome import Failed, Succeeded
from rota.executors.http.response import BODY_KEPT_MAX_BYTES, HttpResponse, ResponseBody
from rota.executors.http.spec import read_request

REQUEST = read_request({"url": "https://example.org/hook?key=secret"})
DATE = "Tue, 01 Jan 2030 09:00:00 GMT"


def answer(status: int = 200, body: bytes = b"", **headers: str) -> HttpResponse:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    kept = ResponseBody(kept=bytearray(body), size=len(body))
    return HttpResponse(status=status, headers=named, charset="utf-8", body=kept)


async def pieces(data: bytes, size: int = 1000) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


@pytest.mark.parametrize(
    ("status", "final"),
    [
        *((status, False) for status in (408, 425, 429, 500, 502, 503, 504, 599)),
        *((status, True) for status in (301, 304, 400, 401, 403, 404, 409, 410, 422, 451)),
    ],
)
def test_only_what_may_pass_is_tried_again(status: int, final: bool) -> None:
    outcome = answer(status).to_outcome(REQUEST, REQUEST.target.display_url)

    assert isinstance(outcome, Failed)
    assert outcome.final is final
    assert outcome.failure.type == f"http {status}"
    assert "secret" not in outcome.failure.message


@pytest.mark.parametrize(
    ("status", "reached"),
    [
        *((status, False) for status in (502, 503, 504)),
        *((status, True) for status in (301, 400, 404, 408, 429, 500, 501)),
    ],
)
def test_a_target_that_is_down_is_told_from_one_that_refuses(status: int, reached: bool) -> None:
    outcome = answer(status).to_outcome(REQUEST, REQUEST.target.display_url)

    assert isinstance(outcome, Failed)
    assert outcome.reached is reached


@pytest.mark.parametrize(
    ("wish", "date", "wait"),
    [
        ("0", DATE, timedelta(0)),
        ("120", DATE, timedelta(seconds=120)),
        ("999999999999999999999", DATE, timedelta(hours=24)),
        ("Tue, 01 Jan 2030 09:05:00 GMT", DATE, timedelta(minutes=5)),
        ("Tue, 01 Jan 2030 08:00:00 GMT", DATE, timedelta(0)),
        ("Tue, 01 Jan 2031 09:05:00 GMT", DATE, timedelta(hours=24)),
        ("Tue, 01 Jan 2030 09:05:00 GMT", "", None),
        ("Tue, 01 Jan 2030 09:05:00 -0000", DATE, None),
        ("-1", DATE, None),
        ("1.5", DATE, None),
        ("soon", DATE, None),
        ("²", DATE, None),
        ("", DATE, None),
    ],
)
def test_the_wait_that_the_target_asks_for_is_honoured(
    wish: str, date: str, wait: timedelta | None
) -> None:
    outcome = answer(503, retry_after=wish, date=date).to_outcome(REQUEST, "x")

    assert isinstance(outcome, Failed)
    assert outcome.retry_after == wait


def test_json_becomes_a_value_and_the_rest_text() -> None:
    value = answer(
        body=b'{"a": [1, "\\ud83d\\ude00"]}', content_type="application/json"
    ).build_result()
    problem = answer(
        body=b"[]", content_type="application/problem+json; charset=utf-8"
    ).build_result()
    text = answer(body="grün".encode(), content_type="text/plain").build_result()

    assert value["body"] == {"a": [1, "😀"]}
    assert problem["body"] == []
    assert text["body_text"] == "grün"
    assert value["status"] == 200
    assert value["truncated"] is False


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"NaN",
        b"[Infinity]",
        b'"\\u0000"',
        b'{"\\u0000": 1}',
        b'"\\ud800"',
        b"[" * 60_000,
        b"\xff\xfe\xfd",
        b"9" * 5000,
    ],
)
def test_json_that_cannot_be_stored_is_kept_as_text(body: bytes) -> None:
    result = answer(body=body, content_type="application/json").build_result()

    assert "body" not in result
    json.dumps(result, allow_nan=False, ensure_ascii=False).encode()


def test_only_a_few_headers_are_kept_and_not_all_of_a_long_one() -> None:
    result = answer(etag="x" * 5000, set_cookie="session=secret", content_type="a/b").build_result()

    assert result["headers"] == {"etag": "x" * 512, "content-type": "a/b"}


async def test_a_body_is_kept_up_to_64_kilobytes() -> None:
    exact, longer = ResponseBody(), ResponseBody()

    await exact.read(pieces(b"x" * BODY_KEPT_MAX_BYTES), limit=10**6)
    await longer.read(pieces(b"x" * (BODY_KEPT_MAX_BYTES + 1)), limit=10**6)

    assert (len(exact.kept), exact.truncated) == (BODY_KEPT_MAX_BYTES, False)
    assert (len(longer.kept), longer.truncated, longer.size) == (
        BODY_KEPT_MAX_BYTES,
        True,
        BODY_KEPT_MAX_BYTES + 1,
    )


async def test_reading_ends_at_the_limit() -> None:
    body = ResponseBody()

    await body.read(pieces(b"x" * 50_000), limit=10_000)

    assert body.truncated
    assert 10_000 < body.size <= 11_000


async def test_gzip_is_unpacked_in_pieces_and_in_several_members() -> None:
    body = ResponseBody(encoding="gzip")

    await body.read(pieces(gzip.compress(b"one ") + gzip.compress(b"two"), size=7), limit=10**6)

    assert (bytes(body.kept), body.truncated) == (b"one two", False)


async def test_a_bomb_is_unpacked_no_further_than_it_is_kept() -> None:
    bomb = gzip.compress(bytes(200_000_000), compresslevel=1)
    body = ResponseBody(encoding="gzip")

    await body.read(pieces(bomb, size=65536), limit=10**7)

    assert (len(body.kept), body.truncated, body.size) == (BODY_KEPT_MAX_BYTES, True, len(bomb))


@pytest.mark.parametrize(
    ("encoding", "data"), [("gzip", b"no gzip"), ("br", b"x"), ("gzip, br", b"x")]
)
async def test_a_body_that_cannot_be_unpacked_is_marked(encoding: str, data: bytes) -> None:
    body = ResponseBody(encoding=encoding)

    await body.read(pieces(data), limit=10**6)

    assert (bytes(body.kept), body.truncated) == (b"", True)


def test_a_status_that_is_ok_succeeds_whatever_it_is() -> None:
    request = read_request({"url": "https://example.org/", "ok": [404]})

    assert isinstance(answer(404).to_outcome(request, "x"), Succeeded)
    assert isinstance(answer(200).to_outcome(request, "x"), Failed)
