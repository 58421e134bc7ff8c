"""What a response makes of the attempt. Room: executors/http.

Reads no more than allowed and keeps no more than 64 KB, decompressed or not: what is not kept is
not decompressed either, so a small body that would become an enormous one costs nothing. A request
that succeeded stays so even if its body was cut; the target has done its work.
"""

import json
import zlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from rota.core.outcome import Failed, Failure, Outcome, Succeeded
from rota.executors.http.spec import Request

KEPT = 64 * 1024
QUOTED = 1024
LONGEST_HEADER = 512
LONGEST_WAIT = timedelta(hours=24)
# Too early, too busy, or late: the same request may succeed later. Other 4xx say it never will.
AGAIN = frozenset({408, 425, 429})
# Said by whoever stands before the target, or by a target that takes nothing from anybody. 429 is
# not among them: it is about this caller, and whoever counts callers is alive.
AWAY = frozenset({502, 503, 504})
SHOWN = ("content-type", "content-length", "date", "etag", "last-modified", "location")
SHOWN_TOO = ("retry-after", "x-request-id")
CHARSETS = frozenset({"utf-8", "us-ascii", "ascii", "iso-8859-1", "windows-1252", "utf-16"})
GZIP = ("gzip", "x-gzip")
AS_IS = ("", "identity")


@dataclass(slots=True, kw_only=True)
class Body:
    """The beginning of a response, decompressed."""

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
        room = KEPT - len(self.kept)
        if room <= 0:
            self.truncated = True
        elif self.encoding in AS_IS:
            self.kept += chunk[:room]
            self.truncated |= len(chunk) > room
        elif self.encoding in GZIP:
            self._unzip(chunk, room)
        else:
            self.truncated = True  # nobody asked for this encoding

    def _unzip(self, chunk: bytes, room: int) -> None:
        """Decompress into the room there is; a file may be several files in a row."""
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
class Answer:
    """A response, as much of it as matters."""

    status: int
    headers: Mapping[str, str]
    charset: str
    body: Body

    def settle(self, request: Request, shown: str) -> Outcome:
        if self.status in request.ok:
            return Succeeded(result=self.result())
        said = clip(self.text(), QUOTED)
        message = f"{request.method} {shown} answered {self.status}"
        return Failed(
            failure=Failure(
                type=f"http {self.status}", message=f"{message}: {said}" if said else message
            ),
            final=not (self.status in AGAIN or self.status >= 500),
            retry_after=self.retry_after(),
            reached=self.status not in AWAY,
        )

    def result(self) -> dict[str, object]:
        shown = {
            name: clip(self.headers[name], LONGEST_HEADER)
            for name in (*SHOWN, *SHOWN_TOO)
            if name in self.headers
        }
        found = self._json()
        body = {"body_text": clip(self.text(), KEPT)} if found is None else {"body": found}
        return {
            "status": self.status,
            "headers": shown,
            **body,
            "truncated": self.body.truncated,
        }

    def text(self) -> str:
        charset = self.charset.lower()
        return self.body.kept.decode(charset if charset in CHARSETS else "utf-8", errors="replace")

    def _json(self) -> object:
        """The body as a value, if it is JSON that PostgreSQL can store."""
        type_ = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        if self.body.truncated or not (type_ == "application/json" or type_.endswith("+json")):
            return None
        try:
            value = json.loads(self.body.kept, parse_constant=_refuse)
            again = json.dumps(value, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            return None
        return None if b"\\u0000" in again else value

    def retry_after(self) -> timedelta | None:
        """How long the target wants to be left alone: seconds, or a date after its own `Date`."""
        wish = self.headers.get("retry-after", "").strip()
        if wish.isascii() and wish.isdigit():
            return timedelta(seconds=min(int(wish[:9]), LONGEST_WAIT.total_seconds()))
        until, now = http_date(wish), http_date(self.headers.get("date", ""))
        if until is None or now is None:
            return None
        return min(max(until - now, timedelta(0)), LONGEST_WAIT)


def http_date(text: str) -> datetime | None:
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    # `-0000` means a time without a zone, which HTTP does not have.
    return at if at.tzinfo is not None else None


def clip(text: str, limit: int) -> str:
    """As much as fits into `limit` bytes, and no NUL, which PostgreSQL cannot store in JSON."""
    return text.replace("\0", "�").encode(errors="replace")[:limit].decode(errors="ignore")


def _refuse(constant: str) -> object:
    raise ValueError(constant)
