"""Implements the child's end of the socket, and interrupts a run in the child.

The worker interrupts with SIGINT, which raises inside a sync handler like Ctrl-C. While a frame is
being sent or received the interrupt waits, because half a frame would break the protocol. SIGTERM,
which the worker sends to the whole group, has no effect on the child itself: a service manager may
send it to every process of a worker that is still draining, and it must not abort a run that could
end in time.
"""

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

from rota.core.errors import LeaseLost
from rota.core.executor import Fail, MapMember, Stream
from rota.executors.python import frames
from rota.executors.python.contexts import NO_TRANSACTION


class Interrupts:
    """Delivers an interrupt to the run in progress; without one, the child exits."""

    def __init__(self) -> None:
        self.is_cancelled = False
        self._deliver: Callable[[], None] = exit_child
        self._held = 0
        self._is_waiting = False

    def install(self) -> None:
        signal.signal(signal.SIGINT, self._on_interrupt)
        # Not SIG_IGN: programs that a handler starts would inherit it.
        signal.signal(signal.SIGTERM, lambda _number, _frame: None)

    @contextmanager
    def deliver_to(self, deliver: Callable[[], None]) -> Iterator[None]:
        """Deliver interrupts to a run while it is in progress."""
        self.is_cancelled = False
        self._deliver = deliver
        try:
            yield
        finally:
            self._deliver = exit_child

    @contextmanager
    def defer(self) -> Iterator[None]:
        """Defer interrupts; Python handles signals in the main thread only."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
            if self._is_waiting and not self._held:
                self._is_waiting = False
                self._deliver()

    def _on_interrupt(self, _number: int, _frame: FrameType | None) -> None:
        self.is_cancelled = True
        if self._held:
            self._is_waiting = True
        else:
            self._deliver()


def exit_child() -> None:
    raise SystemExit(0)


class ChildLink:
    """Sends and receives frames over a blocking socket."""

    def __init__(self, connection: socket.socket, interrupts: Interrupts) -> None:
        self._socket = connection
        self._interrupts = interrupts
        # Reentrant: a finalizer may log while this thread holds the lock. It runs only before or
        # after the single call that sends, so it never splits a frame.
        self._lock = threading.RLock()
        # A process that a handler forks would keep the socket open after the child is gone.
        os.register_at_fork(after_in_child=self._forked)

    @property
    def is_cancelled(self) -> bool:
        return self._interrupts.is_cancelled

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Exclude other threads and interrupts."""
        with self._interrupts.defer(), self._lock:
            yield

    def send(self, frame: frames.ChildFrame) -> None:
        packed = frames.pack_frame(frame)
        with self.exclusive():
            self._socket.sendall(packed)

    def receive(self) -> frames.FromWorker | None:
        """Return the next message, or None when the worker has closed the socket."""
        head = self._read_exactly(frames.FRAME_HEAD.size)
        if head is None:
            return None
        body = self._read_exactly(frames.unpack_length(head))
        return None if body is None else frames.TO_CHILD.decode(body)

    def _read_exactly(self, count: int) -> bytes | None:
        data = bytearray()
        while len(data) < count:
            part = self._socket.recv(count - len(data))
            if not part:
                return None
            data += part
        return bytes(data)

    def _forked(self) -> None:
        self._socket.close()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


class SocketEngineConnection:
    """Connects one call to the engine; implements `Line`.

    Once the call has ended, it sends nothing: a thread that a handler left behind must not write
    into the next run.
    """

    def __init__(self, link: ChildLink) -> None:
        self._link = link
        self._is_over = False

    @property
    def cancelled(self) -> bool:
        return self._is_over or self._link.is_cancelled

    def write(self, stream: Stream, chunk: bytes) -> None:
        self._send_unless_over(frames.OutputFrame(stream=stream, chunk=bytes(chunk)))

    def progress(self, fraction: float, message: str) -> None:
        fraction = min(1.0, max(0.0, float(fraction)))
        self._send_unless_over(frames.ProgressFrame(fraction=fraction, message=str(message)))

    def checkpoint(self, value: object) -> None:
        self._ask(frames.CheckpointFrame(value=frames.to_json(value)))

    def resume(self) -> Any:
        return frames.from_json(self._ask(frames.ResumeFrame()).value)

    def hand_out(self, items: Sequence[object]) -> None:
        self._ask(frames.HandOutFrame(items=frames.to_json(items)))

    def member_page(self, step: str, after: int) -> list[MapMember]:
        reply = self._ask(frames.MembersFrame(step=step, after=after))
        return [MapMember(**fields) for fields in frames.from_json(reply.value)]

    def transaction(self, result: object) -> NoReturn:  # noqa: ARG002 — the signature of `Line`
        raise Fail(NO_TRANSACTION)

    def end(self, last: frames.ReturnedFrame | frames.RaisedFrame) -> None:
        with self._link.exclusive():
            self._is_over = True
            self._link.send(last)

    def _send_unless_over(self, frame: frames.OutputFrame | frames.ProgressFrame) -> None:
        with self._link.exclusive():
            if not self._is_over:
                self._link.send(frame)

    def _ask(self, frame: frames.Question) -> frames.ReplyFrame:
        with self._link.exclusive():
            if self._is_over:
                raise RuntimeError("this attempt is over")
            self._link.send(frame)
            reply = self._link.receive()
        if not isinstance(reply, frames.ReplyFrame):
            raise SystemExit(0)  # the worker is gone
        if reply.is_lost:
            raise LeaseLost("attempt", reply.error)
        if reply.error:
            raise RuntimeError(reply.error)
        return reply
