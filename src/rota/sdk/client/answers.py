"""Reads responses of the API: a value of the requested type, or an error with its fields."""

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
    """A problem document (RFC 9457); every field is optional."""

    title: str = ""
    detail: str = ""
    code: str = UNKNOWN
    request_id: str | None = None
    errors: list[FieldError] = []


def read_answer(request: Request[T], body: bytes, place: Place) -> T:
    """Decode the body of a successful response."""
    if request.answer is NoneType:
        return cast("T", None)
    if request.answer is str:
        return cast("T", body.decode(errors="replace"))
    try:
        return cast("T", decoder(cast("Any", request.answer)).decode(body))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        operation = f"{request.method} {request.path}"
        raise Unreadable(url=place.url, reason=f"{error} (in {operation})") from None


@cache
def decoder(shape: Any) -> "msgspec.json.Decoder[Any]":
    return msgspec.json.Decoder(shape)


def problem_of(status: int, headers: Mapping[str, str], body: bytes, place: Place) -> ApiError:
    """Build the error for an unsuccessful response."""
    problem = read_problem(body)
    if problem is None:
        text = " ".join(body[:MOST_SHOWN].decode(errors="replace").split())
        location = headers.get("location")
        problem = Problem(detail=f"{status}: {text}" if text else "")
        if location:
            detail = f"the API has moved to {location[:MOST_SHOWN]}; use that address"
            problem = Problem(detail=detail)
    return ApiError(
        status=status,
        code=problem.code,
        title=problem.title,
        detail=problem.detail,
        errors=problem.errors,
        request_id=problem.request_id or headers.get("x-request-id"),
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
    """Parse Retry-After in seconds. The API does not use the form with a date: it gives None."""
    said = (said or "").strip()
    return float(said) if said.isascii() and said.isdigit() else None


def headers_of(request: Request[Any], place: Place, content: bytes | None) -> dict[str, str]:
    """Build the headers of a request; they are the same for every try."""
    headers = {"Accept": "application/json, */*;q=0.5"}
    if place.key is not None:
        headers["Authorization"] = f"Bearer {place.key}"
    if content is not None:
        headers["Content-Type"] = "application/json"
    if request.idempotency_key is not None:
        headers["Idempotency-Key"] = request.idempotency_key
    if request.if_match is not None:
        headers["If-Match"] = f'"{request.if_match}"'
    return headers
