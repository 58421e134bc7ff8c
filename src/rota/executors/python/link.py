"""A child's end of the socket, and how a run in it is interrupted. Room: executors/python.

The worker interrupts with SIGINT, which raises in the middle of whatever a sync handler does, like
a Ctrl-C. In the middle of a frame that would leave half of it on the wire; there the interrupt
waits until the frame is through. SIGTERM, which the worker sends to the whole group, does nothing
in the child itself: a service manager may send it to every process of a worker that is still
draining, and a run that could end in time must not be broken off by that.
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
from rota.core.executor import Fail, Member, Stream
from rota.executors.python import frames
from rota.executors.python.contexts import NO_TRANSACTION


class Interrupts:
    """Where an interrupt goes: to the run that is in progress, or else it ends the child."""

    def __init__(self) -> None:
        self.is_cancelled = False
        self._deliver: Callable[[], None] = leave
        self._held = 0
        self._is_waiting = False

    def install(self) -> None:
        signal.signal(signal.SIGINT, self._on_interrupt)
        # Not SIG_IGN, which the programs that a handler starts would inherit.
        signal.signal(signal.SIGTERM, lambda _number, _frame: None)

    @contextmanager
    def delivered_to(self, deliver: Callable[[], None]) -> Iterator[None]:
        """While a run is in progress, an interrupt is its business."""
        self.is_cancelled = False
        self._deliver = deliver
        try:
            yield
        finally:
            self._deliver = leave

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let nothing come between; signals reach the main thread only."""
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


def leave() -> None:
    raise SystemExit(0)


class Link:
    """Frames over a blocking socket."""

    def __init__(self, connection: socket.socket, interrupts: Interrupts) -> None:
        self._socket = connection
        self._interrupts = interrupts
        # Reentrant: a finalizer may log while this thread is in here. It can only come before or
        # after the one call that sends, so it never splits a frame.
        self._lock = threading.RLock()
        # A process forked off by a handler would keep the socket open when the child is gone.
        os.register_at_fork(after_in_child=self._forked)

    @property
    def is_cancelled(self) -> bool:
        return self._interrupts.is_cancelled

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Neither another thread nor an interrupt comes between."""
        with self._interrupts.held(), self._lock:
            yield

    def send(self, frame: frames.Frame) -> None:
        packed = frames.pack(frame)
        with self.alone():
            self._socket.sendall(packed)

    def receive(self) -> frames.FromWorker | None:
        """The next message, or None when the worker is done with this child."""
        head = self._exactly(frames.HEAD.size)
        if head is None:
            return None
        body = self._exactly(frames.length(head))
        return None if body is None else frames.TO_CHILD.decode(body)

    def _exactly(self, count: int) -> bytes | None:
        whole = bytearray()
        while len(whole) < count:
            part = self._socket.recv(count - len(whole))
            if not part:
                return None
            whole += part
        return bytes(whole)

    def _forked(self) -> None:
        self._socket.close()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


class CallLine:
    """The line of one call; implements `Line`. Once the call has ended, nothing of it goes out: a
    thread that a handler left behind must not speak for the next run.
    """

    def __init__(self, link: Link) -> None:
        self._link = link
        self._is_over = False

    @property
    def cancelled(self) -> bool:
        return self._is_over or self._link.is_cancelled

    def write(self, stream: Stream, chunk: bytes) -> None:
        self._say(frames.Written(stream=stream, chunk=bytes(chunk)))

    def progress(self, fraction: float, message: str) -> None:
        fraction = min(1.0, max(0.0, float(fraction)))
        self._say(frames.Progressed(fraction=fraction, message=str(message)))

    def checkpoint(self, value: object) -> None:
        self._ask(frames.Checkpoint(value=frames.to_json(value)))

    def resume(self) -> Any:
        return frames.from_json(self._ask(frames.Resume()).value)

    def hand_out(self, items: Sequence[object]) -> None:
        self._ask(frames.HandOut(items=frames.to_json(items)))

    def member_page(self, step: str, after: int) -> list[Member]:
        reply = self._ask(frames.Members(step=step, after=after))
        return [Member(**each) for each in frames.from_json(reply.value)]

    def transaction(self, result: object) -> NoReturn:  # noqa: ARG002 — as the line has it
        raise Fail(NO_TRANSACTION)

    def end(self, last: frames.Returned | frames.Raised) -> None:
        with self._link.alone():
            self._is_over = True
            self._link.send(last)

    def _say(self, frame: frames.Written | frames.Progressed) -> None:
        with self._link.alone():
            if not self._is_over:
                self._link.send(frame)

    def _ask(self, frame: frames.Question) -> frames.Reply:
        with self._link.alone():
            if self._is_over:
                raise RuntimeError("this attempt is over")
            self._link.send(frame)
            reply = self._link.receive()
        if not isinstance(reply, frames.Reply):
            raise SystemExit(0)  # the worker is gone
        if reply.is_lost:
            raise LeaseLost("attempt", reply.error)
        if reply.error:
            raise RuntimeError(reply.error)
        return reply
