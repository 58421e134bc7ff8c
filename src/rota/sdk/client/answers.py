"""What came back: the shape that was asked for, or an error with its fields. Room: sdk/client."""

from collections.abc import Mapping
from functools import cache
from types import NoneType
from typing import Any, Final, TypeVar, cast

import msgspec
from msgspec import Struct

from rota.sdk.client.errors import UNKNOWN, ApiError, FieldError, Unreadable
from rota.sdk.client.finding import Place
from rota.sdk.client.requests import Request

T = TypeVar("T")
GOOD: Final = range(200, 300)
UNAUTHENTICATED: Final = 401
MOST_SHOWN: Final = 200


class Problem(Struct, frozen=True, kw_only=True):
    """RFC 9457, as far as it is there."""

    title: str = ""
    detail: str = ""
    code: str = UNKNOWN
    request_id: str | None = None
    errors: list[FieldError] = []


def read_answer(request: Request[T], body: bytes, place: Place) -> T:
    """The answer in its shape."""
    if request.answer is NoneType:
        return cast("T", None)
    if request.answer is str:
        return cast("T", body.decode(errors="replace"))
    try:
        return cast("T", decoder(cast("Any", request.answer)).decode(body))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        asked = f"{request.method} {request.path}"
        raise Unreadable(url=place.url, reason=f"{error} (of {asked})") from None


@cache
def decoder(shape: Any) -> "msgspec.json.Decoder[Any]":
    return msgspec.json.Decoder(shape)


def problem_of(status: int, headers: Mapping[str, str], body: bytes, place: Place) -> ApiError:
    """What an answer that is no success says."""
    told = read_problem(body)
    if told is None:
        said = " ".join(body[:MOST_SHOWN].decode(errors="replace").split())
        moved = headers.get("location")
        told = Problem(detail=f"{status}: {said}" if said else "")
        if moved:
            told = Problem(detail=f"the API has moved to {moved[:MOST_SHOWN]}; give that address")
    return ApiError(
        status=status,
        code=told.code,
        title=told.title,
        detail=told.detail,
        errors=told.errors,
        request_id=told.request_id or headers.get("x-request-id"),
        retry_after=seconds(headers.get("retry-after")),
        hint=place.hint if status == UNAUTHENTICATED else None,
        has_no_key=status == UNAUTHENTICATED and place.key is None,
    )


def read_problem(body: bytes) -> Problem | None:
    try:
        return msgspec.json.decode(body, type=Problem)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def seconds(said: str | None) -> float | None:
    """Retry-After in seconds; the form with a date, which the API does not use, is not read."""
    said = (said or "").strip()
    return float(said) if said.isascii() and said.isdigit() else None


def headers_of(request: Request[Any], place: Place, content: bytes | None) -> dict[str, str]:
    """What is sent besides the body; the same for every try."""
    given = {"Accept": "application/json, */*;q=0.5"}
    if place.key is not None:
        given["Authorization"] = f"Bearer {place.key}"
    if content is not None:
        given["Content-Type"] = "application/json"
    if request.idempotency_key is not None:
        given["Idempotency-Key"] = request.idempotency_key
    if request.if_match is not None:
        given["If-Match"] = f'"{request.if_match}"'
    return given
