"""Parses the payload of an HTTP job into a request.

`HttpPayload` defines the fields. The guard decides at each attempt whether the target may be
reached.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from rota.contract.payloads.http import HttpPayload
from rota.contract.payloads.reader import read_payload
from rota.core.errors import InvalidInput
from rota.core.time import durations
from rota.executors.http.target import HttpTarget, read_target

HEADERS_MAX_BYTES: Final = 8 * 1024
REQUEST_BODY_MAX_BYTES: Final = 256 * 1024
TIMEOUT_MIN: Final = timedelta(milliseconds=100)
TIMEOUT_MAX: Final = timedelta(hours=24)

HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}", re.ASCII)
HEADER_VALUE = re.compile(r"[\t -~\x80-\xff]*")
# Connection headers belong to the HTTP client; Rota's guarantees rest on the others.
RESERVED_HEADERS = re.compile(
    r"host|connection|keep-alive|transfer-encoding|content-length|te|trailer|upgrade|expect"
    r"|accept-encoding|proxy-.*|idempotency-key|rota-.*|user-agent",
    re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A request to send; `ok` are the statuses that count as success."""

    method: str
    target: HttpTarget
    headers: Mapping[str, str]
    body: bytes | None
    timeout: timedelta | None
    redirects: int
    ok: frozenset[int]
    max_body: int
    # Whether the operator's exceptions to "public targets only" apply.
    is_trusted: bool = True


def read_request(payload: object) -> HttpRequest:
    example = '{"url": "https://example.org/"}'
    return build_request(read_payload(HttpPayload, payload, example=example))


def build_request(payload: HttpPayload) -> HttpRequest:
    body, type_ = _encode_body(payload.body)
    headers = dict(payload.headers)
    _check_headers(headers)
    if type_ is not None and not any(name.lower() == "content-type" for name in headers):
        headers["Content-Type"] = type_
    return HttpRequest(
        method=payload.method,
        target=read_target(payload.url),
        headers=headers,
        body=body,
        timeout=_parse_timeout(payload.timeout),
        redirects=payload.redirects,
        ok=_expand_statuses(payload.ok),
        max_body=payload.max_body,
    )


def _check_headers(headers: Mapping[str, str]) -> None:
    for name, text in headers.items():
        if HEADER_NAME.fullmatch(name) is None:
            raise InvalidInput("headers", name, "expected a header name of letters, digits and -")
        if RESERVED_HEADERS.fullmatch(name.lower()):
            raise InvalidInput("headers", name, "Rota sets this header; remove it")
        if HEADER_VALUE.fullmatch(text) is None:
            raise InvalidInput(f"headers.{name}", text, "expected one line of Latin-1 text")
    if sum(len(name) + len(text) + 4 for name, text in headers.items()) > HEADERS_MAX_BYTES:
        wanted = f"all headers together must be at most {HEADERS_MAX_BYTES} bytes"
        raise InvalidInput("headers", sorted(headers), wanted)
    if len({name.lower() for name in headers}) < len(headers):
        raise InvalidInput("headers", sorted(headers), "each name must occur once, in any case")


def _encode_body(body: str | dict[str, Any] | list[Any] | None) -> tuple[bytes | None, str | None]:
    """Return the bytes to send and their content type."""
    if body is None:
        return None, None
    wanted = f"expected text, or a JSON object or list, of at most {REQUEST_BODY_MAX_BYTES} bytes"
    try:
        if isinstance(body, str):
            encoded, type_ = body.encode(), "text/plain; charset=utf-8"
        else:
            text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            encoded, type_ = text.encode(), "application/json"
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput("body", body, wanted) from None
    if len(encoded) > REQUEST_BODY_MAX_BYTES:
        raise InvalidInput("body", body, wanted)
    return encoded, type_


def _parse_timeout(text: str | None) -> timedelta | None:
    if text is None:
        return None
    return durations.parse(text, field="timeout", minimum=TIMEOUT_MIN, maximum=TIMEOUT_MAX)


def _expand_statuses(listed: Sequence[int | str]) -> frozenset[int]:
    """Return the statuses that a list such as `["2xx", 404]` stands for."""
    statuses: set[int] = set()
    for item in listed:
        first = item if isinstance(item, int) else int(item[0]) * 100
        statuses.update(range(first, first + (1 if isinstance(item, int) else 100)))
    return frozenset(statuses)
