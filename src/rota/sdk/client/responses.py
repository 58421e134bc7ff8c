"""Reads responses of the API: a value of the requested type, or an error with its fields."""

from collections.abc import Mapping
from functools import cache
from types import NoneType
from typing import Any, Final, TypeVar, cast

import msgspec
from msgspec import Struct

from rota.sdk.client.discovery import ApiEndpoint
from rota.sdk.client.errors import UNKNOWN_CODE, ApiError, FieldError, Unreadable
from rota.sdk.client.requests import ApiRequest

T = TypeVar("T")
SUCCESS_STATUSES: Final = range(200, 300)
UNAUTHENTICATED: Final = 401
SHOWN_BODY_BYTES_MAX: Final = 200


class ProblemDocument(Struct, frozen=True, kw_only=True):
    """A problem document (RFC 9457); every field is optional."""

    title: str = ""
    detail: str = ""
    code: str = UNKNOWN_CODE
    request_id: str | None = None
    errors: list[FieldError] = []


def read_response(request: ApiRequest[T], body: bytes, endpoint: ApiEndpoint) -> T:
    """Decode the body of a successful response."""
    if request.response_type is NoneType:
        return cast("T", None)
    if request.response_type is str:
        return cast("T", body.decode(errors="replace"))
    try:
        return cast("T", decoder_for(cast("Any", request.response_type)).decode(body))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        operation = f"{request.method} {request.path}"
        raise Unreadable(url=endpoint.url, reason=f"{error} (in {operation})") from None


@cache
def decoder_for(type_: Any) -> "msgspec.json.Decoder[Any]":
    return msgspec.json.Decoder(type_)


def build_api_error(
    status: int, headers: Mapping[str, str], body: bytes, endpoint: ApiEndpoint
) -> ApiError:
    """Build the error for an unsuccessful response."""
    problem = read_problem(body)
    if problem is None:
        text = " ".join(body[:SHOWN_BODY_BYTES_MAX].decode(errors="replace").split())
        location = headers.get("location")
        problem = ProblemDocument(detail=f"{status}: {text}" if text else "")
        if location:
            detail = f"the API has moved to {location[:SHOWN_BODY_BYTES_MAX]}; use that address"
            problem = ProblemDocument(detail=detail)
    return ApiError(
        status=status,
        code=problem.code,
        title=problem.title,
        detail=problem.detail,
        errors=problem.errors,
        request_id=problem.request_id or headers.get("x-request-id"),
        retry_after=parse_retry_after(headers.get("retry-after")),
        hint=endpoint.hint if status == UNAUTHENTICATED else None,
        has_no_key=status == UNAUTHENTICATED and endpoint.key is None,
    )


def read_problem(body: bytes) -> ProblemDocument | None:
    try:
        return msgspec.json.decode(body, type=ProblemDocument)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def parse_retry_after(header: str | None) -> float | None:
    """Parse Retry-After in seconds. The API does not use the form with a date: it gives None."""
    header = (header or "").strip()
    return float(header) if header.isascii() and header.isdigit() else None


def build_headers(
    request: ApiRequest[Any], endpoint: ApiEndpoint, content: bytes | None
) -> dict[str, str]:
    """Build the headers of a request; they are the same for every try."""
    headers = {"Accept": "application/json, */*;q=0.5"}
    if endpoint.key is not None:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    if content is not None:
        headers["Content-Type"] = "application/json"
    if request.idempotency_key is not None:
        headers["Idempotency-Key"] = request.idempotency_key
    if request.if_match is not None:
        headers["If-Match"] = f'"{request.if_match}"'
    return headers
