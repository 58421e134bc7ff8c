"""Reads HTTP from a client's connection within size and time limits.

uvicorn's protocol reads a head of any size for any time. This one reports the phase of the
connection to the connection guard, counts received bytes and closes a connection beyond its limit,
with a response if one can still be sent. It does not affect requests that arrive in time.
"""

import asyncio
from typing import Any, Final

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from rota.api.connections import (
    BODY_TIMEOUT_S,
    ConnectionEntry,
    ConnectionGuard,
    ConnectionPhase,
)
from rota.api.problems import PROBLEM_KINDS, PROBLEM_MEDIA_TYPE, describe_status

HEAD_BYTES_MAX: Final = 16 * 1024
# More than any operation reads, so that an operation's own response comes first. The excess is the
# rest of a refused body.
BODY_BYTES_MAX: Final = 32 * 1024 * 1024
# Pipelined requests of a connection that wait for the current one.
PIPELINED_MAX: Final = 16
LINGER_BYTES_MAX: Final = 256 * 1024


class GuardedProtocol(HttpToolsProtocol):
    """One connection. All connections of a listener share `guard`."""

    def __init__(self, *args: Any, guard: ConnectionGuard, **more: Any) -> None:
        super().__init__(*args, **more)
        self._guard = guard
        self._entry: ConnectionEntry | None = None
        # Counts completed heads and messages.
        self._milestones = 0
        self._is_head_open = False
        self._is_body_open = False
        self._head_bytes = 0
        self._linger_bytes = 0
        self._is_refused = False
        self._request: RequestResponseCycle | None = None
        self.body_bytes = 0

    @property
    def is_body_awaited(self) -> bool:
        is_held_back = self._request is not None and self._request.waiting_for_100_continue
        return not self.flow.read_paused and not is_held_back

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._entry = self._guard.attach(transport.get_extra_info("socket").fileno(), self)
        if self._entry is None:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            self._linger_bytes += len(data)
            if self._linger_bytes > LINGER_BYTES_MAX:
                self.abort()
            return
        while data and not self.transport.is_closing() and not self._is_refused:
            # Feed a head only up to its limit, so that the parser never holds more.
            size = len(data) if self._is_body_open else HEAD_BYTES_MAX - self._head_bytes
            piece, data = (data, b"") if size >= len(data) else (data[:size], data[size:])
            self._feed(piece)

    def _feed(self, piece: bytes) -> None:
        before = self._milestones
        super().data_received(piece)
        if self._is_body_open:
            self.body_bytes += len(piece)
            if self.body_bytes > BODY_BYTES_MAX:
                self._refuse("too_large", f"the body may have at most {BODY_BYTES_MAX:,} bytes")
        elif self._milestones == before:
            self._head_bytes += len(piece)
            if self._head_bytes >= HEAD_BYTES_MAX:
                detail = f"the request line and headers may have at most {HEAD_BYTES_MAX:,} bytes"
                self._refuse("header_too_large", detail)
        else:
            self._head_bytes = len(piece) if self._is_head_open else 0
        self._enter_phase()

    def on_message_begin(self) -> None:
        self._is_head_open = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._milestones += 1
        self._is_head_open = False
        self._is_body_open = True
        self.body_bytes = 0
        if len(self.pipeline) >= PIPELINED_MAX:
            self.abort()
        if not self.transport.is_closing():
            super().on_headers_complete()
            self._request = self.cycle

    def on_body(self, body: bytes) -> None:
        if not self.transport.is_closing():
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._milestones += 1
        self._is_body_open = False
        if not self.transport.is_closing():
            super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._enter_phase()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._entry is not None:
            self._guard.note_unread(self._entry, self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._entry is not None:
            self._guard.note_unread(self._entry, 0)

    def abort(self) -> None:
        self.transport.abort()

    def end_head(self) -> None:
        if self._head_bytes == 0:
            self.transport.abort()
            return
        limit = f"{self._guard.limits.head_timeout_s:g} s"
        self._refuse("request_timeout", f"the headers must arrive within {limit}")

    def end_body(self) -> None:
        detail = f"the body must arrive within {BODY_TIMEOUT_S:g} s, at 1 kB/s or faster"
        self._refuse("request_timeout", detail)

    def _enter_phase(self) -> None:
        entry = self._entry
        if entry is None or self._is_refused:
            return
        if self._is_body_open:
            phase = ConnectionPhase.BODY
        elif self._request is not None and not self._request.response_complete:
            phase = ConnectionPhase.BUSY
        elif self._head_bytes > 0:
            phase = ConnectionPhase.HEAD
        else:
            phase = ConnectionPhase.IDLE
        if phase is not entry.phase:
            self._guard.enter(entry, phase)

    def _refuse(self, code: str, detail: str) -> None:
        """Send a problem if no response has started, and close. Further input is discarded for a
        moment: closing at once could destroy the response before the client reads it.
        """
        if self._is_refused or self.transport.is_closing():
            return
        self._is_refused = True
        if self._is_body_open and self._request is not None:
            self._request.disconnected = True
            self._request.message_event.set()
            if self._request.response_started:
                self.abort()
                return
        self._unset_keepalive_if_required()
        self.transport.write(render_refusal(code, detail))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        if self._entry is not None:
            self._guard.enter(self._entry, ConnectionPhase.LINGERING)


def render_refusal(code: str, detail: str) -> bytes:
    """Build a complete response that says why the connection is closed."""
    kind = PROBLEM_KINDS[code]
    body = msgspec.json.encode(
        {
            "type": f"/problems/{code}",
            "title": kind.title,
            "status": kind.status,
            "detail": detail,
            "code": code,
        }
    )
    head = (
        f"HTTP/1.1 {kind.status} {describe_status(kind.status)}\r\n"
        f"content-type: {PROBLEM_MEDIA_TYPE}\r\n"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode("ascii") + body
