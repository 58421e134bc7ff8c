"""Turns an HTTP response into the outcome of the attempt.

Reads at most `max_body` bytes and keeps at most 64 KB after decompression. The rest is never
decompressed, so a decompression bomb costs nothing. A request that succeeded stays successful even
if its body was truncated, because the target has done its work.
"""

import json
import zlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from rota.core.outcome import Failed, Failure, Outcome, Succeeded
from rota.executors.http.spec import HttpRequest

BODY_KEPT_MAX_BYTES = 64 * 1024
BODY_QUOTED_MAX_BYTES = 1024
HEADER_VALUE_MAX_BYTES = 512
RETRY_AFTER_MAX = timedelta(hours=24)
# The same request may succeed later; other 4xx statuses are final.
RETRYABLE_STATUSES = frozenset({408, 425, 429})
# A proxy in front of the target sends these, or a target that is down. 429 does not count as down:
# a target that rate-limits this caller is alive.
TARGET_DOWN_STATUSES = frozenset({502, 503, 504})
RESULT_HEADERS = ("content-type", "content-length", "date", "etag", "last-modified", "location")
MORE_RESULT_HEADERS = ("retry-after", "x-request-id")
SUPPORTED_CHARSETS = frozenset(
    {"utf-8", "us-ascii", "ascii", "iso-8859-1", "windows-1252", "utf-16"}
)
GZIP_ENCODINGS = ("gzip", "x-gzip")
IDENTITY_ENCODINGS = ("", "identity")


@dataclass(slots=True, kw_only=True)
class ResponseBody:
    """Keeps the beginning of a response body, decompressed."""

    encoding: str = ""
    size: int = 0
    kept: bytearray = field(default_factory=bytearray)
    truncated: bool = False
    _gzip: Any = None

    async def read(self, chunks: AsyncIterator[bytes], limit: int) -> None:
        async for chunk in chunks:
            self.size += len(chunk)
            self._keep(chunk)
            if self.size > limit:
                self.truncated = True
                return

    def _keep(self, chunk: bytes) -> None:
        room = BODY_KEPT_MAX_BYTES - len(self.kept)
        if room <= 0:
            self.truncated = True
        elif self.encoding in IDENTITY_ENCODINGS:
            self.kept += chunk[:room]
            self.truncated |= len(chunk) > room
        elif self.encoding in GZIP_ENCODINGS:
            self._unzip(chunk, room)
        else:
            self.truncated = True  # an encoding that the request did not accept

    def _unzip(self, chunk: bytes, room: int) -> None:
        """Decompress at most `room` bytes; a gzip stream may consist of several members."""
        while chunk and room > 0:
            if self._gzip is None or self._gzip.eof:
                self._gzip = zlib.decompressobj(wbits=31)
            try:
                plain = self._gzip.decompress(chunk, room)
            except zlib.error:
                self.truncated = True
                return
            self.kept += plain
            room -= len(plain)
            chunk = self._gzip.unused_data or self._gzip.unconsumed_tail
        self.truncated |= bool(chunk)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """The parts of a response that determine the outcome."""

    status: int
    headers: Mapping[str, str]
    charset: str
    body: ResponseBody

    def to_outcome(self, request: HttpRequest, display_url: str) -> Outcome:
        if self.status in request.ok:
            return Succeeded(result=self.build_result())
        quote = clip_text(self.decode_text(), BODY_QUOTED_MAX_BYTES)
        message = f"{request.method} {display_url} answered {self.status}"
        return Failed(
            failure=Failure(
                type=f"http {self.status}", message=f"{message}: {quote}" if quote else message
            ),
            final=not (self.status in RETRYABLE_STATUSES or self.status >= 500),
            retry_after=self.parse_retry_after(),
            reached=self.status not in TARGET_DOWN_STATUSES,
        )

    def build_result(self) -> dict[str, object]:
        shown = {
            name: clip_text(self.headers[name], HEADER_VALUE_MAX_BYTES)
            for name in (*RESULT_HEADERS, *MORE_RESULT_HEADERS)
            if name in self.headers
        }
        value = self._json()
        body = (
            {"body_text": clip_text(self.decode_text(), BODY_KEPT_MAX_BYTES)}
            if value is None
            else {"body": value}
        )
        return {
            "status": self.status,
            "headers": shown,
            **body,
            "truncated": self.body.truncated,
        }

    def decode_text(self) -> str:
        charset = self.charset.lower()
        return self.body.kept.decode(
            charset if charset in SUPPORTED_CHARSETS else "utf-8", errors="replace"
        )

    def _json(self) -> object:
        """Return the body as a value if it is JSON that PostgreSQL can store, else None."""
        type_ = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        if self.body.truncated or not (type_ == "application/json" or type_.endswith("+json")):
            return None
        try:
            value = json.loads(self.body.kept, parse_constant=_refuse)
            encoded = json.dumps(value, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            return None
        return None if b"\\u0000" in encoded else value

    def parse_retry_after(self) -> timedelta | None:
        """Return the delay of `Retry-After`: seconds, or a date relative to the `Date` header."""
        value = self.headers.get("retry-after", "").strip()
        if value.isascii() and value.isdigit():
            return timedelta(seconds=min(int(value[:9]), RETRY_AFTER_MAX.total_seconds()))
        until, now = parse_http_date(value), parse_http_date(self.headers.get("date", ""))
        if until is None or now is None:
            return None
        return min(max(until - now, timedelta(0)), RETRY_AFTER_MAX)


def parse_http_date(text: str) -> datetime | None:
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    # `-0000` means a time without a zone, which HTTP does not allow.
    return at if at.tzinfo is not None else None


def clip_text(text: str, limit: int) -> str:
    """Cut a text to `limit` bytes and replace NUL, which PostgreSQL cannot store in JSON."""
    return text.replace("\0", "�").encode(errors="replace")[:limit].decode(errors="ignore")


def _refuse(constant: str) -> object:
    raise ValueError(constant)
