"""What the payload of an HTTP job may say. Room: executors/http.

    {"method": "POST", "url": "https://example.org/hook", "headers": {"X-Team": "billing"},
     "body": {"id": 7}, "timeout": "20s", "redirects": 1, "ok": ["2xx", 404], "max_body": 65536}

Only reads and refuses. Whether the target may be reached is the guard's business, each time.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from rota.core.errors import InvalidInput
from rota.core.time import durations
from rota.executors.http.target import Target, read_target

KNOWN: Final = ("method", "url", "headers", "body", "timeout", "redirects", "ok", "max_body")
METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
MOST_HEADERS: Final = 32
MOST_HEADER_BYTES: Final = 8 * 1024
MOST_SENT: Final = 256 * 1024
MOST_READ: Final = 10 * 1024 * 1024
MOST_REDIRECTS: Final = 3
SHORTEST_TIMEOUT: Final = timedelta(milliseconds=100)
LONGEST_TIMEOUT: Final = timedelta(hours=24)

NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}", re.ASCII)
VALUE = re.compile(r"[\t -~\x80-\xff]*")
STATUS = re.compile(r"[1-5]xx", re.ASCII)
# Those of the connection, which belong to the client, and those that Rota makes promises with.
OURS = re.compile(
    r"host|connection|keep-alive|transfer-encoding|content-length|te|trailer|upgrade|expect"
    r"|accept-encoding|proxy-.*|idempotency-key|rota-.*|user-agent",
    re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request to send; `ok` are the statuses that count as success."""

    method: str
    target: Target
    headers: Mapping[str, str]
    body: bytes | None
    timeout: timedelta | None
    redirects: int
    ok: frozenset[int]
    max_body: int


def read_request(payload: object) -> Request:
    if not isinstance(payload, Mapping):
        raise InvalidInput("payload", payload, 'an object such as {"url": "https://example.org/"}')
    for key in payload:
        if key not in KNOWN:
            raise InvalidInput(f"payload.{key}", payload[key], f"one of {', '.join(KNOWN)}")
    body, type_ = _body(payload.get("body"))
    headers = _headers(payload.get("headers"))
    if type_ is not None and not any(name.lower() == "content-type" for name in headers):
        headers["Content-Type"] = type_
    return Request(
        method=_method(payload.get("method")),
        target=read_target(payload.get("url")),
        headers=headers,
        body=body,
        timeout=_timeout(payload.get("timeout")),
        redirects=_whole(payload, "redirects", high=MOST_REDIRECTS, default=0),
        ok=_ok(payload.get("ok")),
        max_body=_whole(payload, "max_body", high=MOST_READ, default=MOST_READ),
    )


def _method(value: object) -> str:
    method = "GET" if value is None else value
    if method not in METHODS:
        raise InvalidInput("method", value, f"one of {', '.join(METHODS)}")
    return str(method)


def _headers(value: object) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or len(value) > MOST_HEADERS:
        raise InvalidInput("headers", value, f"an object of at most {MOST_HEADERS} texts")
    for name, text in value.items():
        if not isinstance(name, str) or NAME.fullmatch(name) is None:
            raise InvalidInput("headers", name, "names of letters, digits and -")
        if OURS.fullmatch(name.lower()):
            raise InvalidInput("headers", name, "a header that Rota does not set itself")
        if not isinstance(text, str) or VALUE.fullmatch(text) is None:
            raise InvalidInput(f"headers.{name}", text, "one line of text in Latin-1")
    if sum(len(name) + len(text) + 4 for name, text in value.items()) > MOST_HEADER_BYTES:
        raise InvalidInput("headers", sorted(value), f"at most {MOST_HEADER_BYTES} bytes in all")
    if len({name.lower() for name in value}) < len(value):
        raise InvalidInput("headers", sorted(value), "each name once")
    return dict(value)


def _body(value: object) -> tuple[bytes | None, str | None]:
    """The bytes to send and what they are."""
    if value is None:
        return None, None
    wanted = f"a text, or a JSON object or list, of at most {MOST_SENT} bytes"
    if not isinstance(value, str | Mapping | list | tuple):
        raise InvalidInput("body", value, wanted)
    try:
        if isinstance(value, str):
            sent, type_ = value.encode(), "text/plain; charset=utf-8"
        else:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            sent, type_ = text.encode(), "application/json"
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput("body", value, wanted) from None
    if len(sent) > MOST_SENT:
        raise InvalidInput("body", value, wanted)
    return sent, type_


def _timeout(value: object) -> timedelta | None:
    if value is None:
        return None
    return durations.parse(
        value, field="timeout", shortest=SHORTEST_TIMEOUT, longest=LONGEST_TIMEOUT
    )


def _ok(value: object) -> frozenset[int]:
    if value is None:
        return frozenset(range(200, 300))
    wanted = 'a list of statuses such as 204 or "2xx"'
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= 64:
        raise InvalidInput("ok", value, wanted)
    statuses: set[int] = set()
    for one in value:
        if isinstance(one, str) and STATUS.fullmatch(one):
            first = int(one[0]) * 100
            statuses.update(range(first, first + 100))
        elif type(one) is int and 100 <= one <= 599:
            statuses.add(one)
        else:
            raise InvalidInput("ok", one, wanted)
    return frozenset(statuses)


def _whole(payload: Mapping[str, object], key: str, *, high: int, default: int) -> int:
    value = payload.get(key)
    if value is None:
        return default
    if type(value) is not int or not 0 <= value <= high:
        raise InvalidInput(key, value, f"a whole number from 0 to {high}")
    return value
