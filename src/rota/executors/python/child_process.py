"""Implements the worker's side of one child process.

The child starts in a session of its own, so that a signal to its group reaches every program that a
handler starts. The worker reads its output piece by piece and passes each piece to the attempt: a
handler that prints faster waits on its pipe, and the worker's memory does not grow. `children.py`
decides which child runs which call; `frames.py` defines the messages.
"""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Awaitable, Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import IO, Any, Final, Self, assert_never

import msgspec

from rota.core.errors import LeaseLost
from rota.core.executor import AttemptContext, Stream
from rota.core.outcome import Failed, Failure, Outcome, Snoozed, Succeeded
from rota.executors.python import frames
from rota.executors.python.child_spawner import spawn_child, watch_process
from rota.executors.python.failures import write_traceback
from rota.executors.python.frames import RaisedMeaning
from rota.runtime import child_groups

OUTPUT_PIECE_BYTES: Final = 65_536
# Output that a child wrote before its result may wait in a pipe, which holds at most 1 MB.
OUTPUT_PIECES_MAX: Final = 16
# Seconds that a child may take to exit, and that the kernel may take to end a killed one.
EXIT_TIMEOUT_S: Final = 2.0
KILL_TIMEOUT_S: Final = 1.0


class ChildProcess:
    """Runs one call at a time in a child process. `ended` resolves to its exit code."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.runs = 0
        self.resident = 0
        # No more calls: it is exiting, was interrupted, or broke the protocol.
        self.is_spent = False
        # Names of the worker's variables that the child does not get.
        self.withheld_variables: AbstractSet[str] = frozenset()
        self._loop = asyncio.get_running_loop()
        self.exit_future: asyncio.Future[int] = self._loop.create_future()
        self._process = process
        self._reader = reader
        self._writer = writer
        self._context: AttemptContext | None = None
        # The length of the next message, once it has been received.
        self._awaited: int | None = None
        self._owes_reply = False
        self._deadline: asyncio.TimerHandle | None = None
        self._pipes: list[tuple[IO[bytes], Stream]] = []
        for pipe, stream in ((process.stdout, Stream.STDOUT), (process.stderr, Stream.STDERR)):
            assert pipe is not None  # noqa: S101 — `spawn` requests both
            os.set_blocking(pipe.fileno(), False)
            self._loop.add_reader(pipe.fileno(), self._pour, pipe, stream)
            self._pipes.append((pipe, stream))
        child_groups.add(process.pid)
        watch_process(process, self._on_end)

    @classmethod
    async def start(cls, source: str, *, memory: int, environment: Mapping[str, str]) -> Self:
        ours, theirs = socket.socketpair()
        with theirs:
            reader, writer = await asyncio.open_unix_connection(sock=ours)
            try:
                process = spawn_child(theirs, source, memory, environment)
            except BaseException:
                writer.close()
                raise
        child = cls(process, reader, writer)
        child.withheld_variables = os.environ.keys() - environment.keys()
        return child

    async def run_call(self, call: frames.CallFrame, context: AttemptContext) -> Outcome:
        """Run one call. On cancellation, stop it within the grace period, then kill it."""
        self._context = context
        self.runs += 1
        try:
            return await self._converse(call, context)
        except asyncio.CancelledError:
            await self._stop(context)
            raise
        except BaseException:  # the context refused something; the handler still runs
            self.kill()
            raise
        finally:
            self._pour_out()
            self._context = None

    def dismiss(self) -> None:
        """Close the socket so that the child exits; kill it if it does not."""
        self.is_spent = True
        self._writer.close()
        if not self.exit_future.done() and self._deadline is None:
            self._deadline = self._loop.call_later(EXIT_TIMEOUT_S, self.kill)

    def kill(self) -> None:
        """Kill its whole process group now."""
        self.is_spent = True
        self._signal(os.killpg, signal.SIGKILL)

    async def _converse(self, call: frames.CallFrame, context: AttemptContext) -> Outcome:
        try:
            await self._send(call)
            return await self._follow(context)
        except (OSError, asyncio.IncompleteReadError):
            return await self._lost("")
        except msgspec.MsgspecError as error:  # a handler wrote to the socket, or broke the memory
            return await self._lost(f" after an invalid message ({error})")

    async def _follow(self, context: AttemptContext) -> Outcome:
        while True:
            frame = await self._receive()
            match frame:
                case frames.OutputFrame():
                    context.write(frame.stream, frame.chunk)
                case frames.ProgressFrame():
                    context.progress(frame.fraction, frame.message)
                case frames.CheckpointFrame():
                    await self._answer(context.checkpoint(frames.from_json(frame.value)))
                case frames.ResumeFrame():
                    await self._answer(context.resume())
                case frames.HandOutFrame():
                    await self._answer(context.hand_out(frames.from_json(frame.items)))
                case frames.MembersFrame():
                    await self._answer(context.member_page(frame.step, frame.after))
                case frames.ReturnedFrame():
                    self.resident = frame.resident
                    return Succeeded(result=frames.from_json(frame.value))
                case frames.RaisedFrame():
                    self.resident = frame.resident
                    self.is_spent |= frame.is_leaving
                    return build_outcome(
                        explain_withheld_variable(frame, self.withheld_variables), context
                    )
                case _:
                    assert_never(frame)

    async def _answer(self, answer: Awaitable[Any]) -> None:
        self._owes_reply = True
        try:
            reply = frames.ReplyFrame(value=frames.to_json(await answer))
        except LeaseLost as error:
            reply = frames.ReplyFrame(error=str(error.id), is_lost=True)
        except Exception as error:  # noqa: BLE001 — raised again in the child
            reply = frames.ReplyFrame(error=f"{type(error).__name__}: {error}")
        self._owes_reply = False
        await self._send(reply)

    async def _send(self, frame: frames.FromWorker) -> None:
        self._writer.write(frames.pack_frame(frame))
        await self._writer.drain()

    async def _receive(self) -> frames.FromChild:
        # A cancellation may occur between the two reads; `_stop` then continues from here.
        if self._awaited is None:
            self._awaited = frames.unpack_length(
                await self._reader.readexactly(frames.FRAME_HEAD.size)
            )
        body = await self._reader.readexactly(self._awaited)
        self._awaited = None
        return frames.TO_WORKER.decode(body)

    async def _lost(self, how: str) -> Failed:
        """Report that the connection broke, nearly always because the process ended."""
        self.kill()
        await asyncio.wait((self.exit_future,), timeout=KILL_TIMEOUT_S)
        fate = (
            describe_exit(self.exit_future.result()) if self.exit_future.done() else "does not exit"
        )
        failure = Failure(type="child lost", message=f"the handler's process {fate}{how}")
        return Failed(failure=failure)

    async def _stop(self, context: AttemptContext) -> None:
        """Interrupt the handler, keep answering it for the grace period, then kill the group.

        Processes that remained would keep working for a run that has ended.
        """
        self.is_spent = True
        try:
            self._signal(os.kill, signal.SIGINT)
            self._signal(os.killpg, signal.SIGTERM)
            if self._owes_reply:
                # The handler waits for the reply and sees the interrupt only afterwards.
                self._writer.write(
                    frames.pack_frame(frames.ReplyFrame(error="the attempt is stopping"))
                )
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, msgspec.MsgspecError):
                async with asyncio.timeout(context.grace.total_seconds()):
                    await self._follow(context)
        finally:
            self.kill()
            await asyncio.wait((self.exit_future,), timeout=KILL_TIMEOUT_S)

    def _signal(self, send: Callable[[int, int], None], number: signal.Signals) -> None:
        # Only `_on_end` reaps it, and until then its PID cannot be reused. Popen.send_signal would
        # reap it first, before the rest of its group is killed.
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                send(self._process.pid, number)

    def _pour(self, pipe: IO[bytes], stream: Stream) -> bool:
        """Pass one piece of output on; return False if no output is waiting."""
        try:
            chunk = os.read(pipe.fileno(), OUTPUT_PIECE_BYTES)
        except BlockingIOError:
            return False
        if not chunk:
            self._loop.remove_reader(pipe.fileno())
            return False
        # Output between two attempts belongs to neither.
        if self._context is not None:
            self._context.write(stream, chunk)
        return True

    def _pour_out(self) -> None:
        for pipe, stream in self._pipes:
            for _ in range(OUTPUT_PIECES_MAX):
                if pipe.closed or not self._pour(pipe, stream):
                    break

    def _on_end(self) -> None:
        # Kill the rest of its group first, while its PID cannot be reused.
        self.kill()
        child_groups.discard(self._process.pid)
        code = self._process.wait()
        if self._deadline is not None:
            self._deadline.cancel()
        self._pour_out()
        for pipe, _ in self._pipes:
            self._loop.remove_reader(pipe.fileno())
            pipe.close()
        self.exit_future.set_result(code)


def build_outcome(raised: frames.RaisedFrame, context: AttemptContext) -> Outcome:
    """Return the outcome that the engine would derive from the same exception on the loop."""
    failure = Failure(type=raised.type, message=raised.message, frame=raised.own_frame)
    match raised.meaning:
        case RaisedMeaning.FAIL | RaisedMeaning.INVALID:
            return Failed(failure=failure, final=True)
        case RaisedMeaning.RETRY:
            return Failed(failure=failure, retry_after=raised.delay)
        case RaisedMeaning.SNOOZE if raised.delay is not None:
            return Snoozed(delay=raised.delay)
        case RaisedMeaning.STOPPED:
            return Failed(failure=failure)
        case _:
            failure = replace(failure, traceback=raised.traceback)
            write_traceback(failure, context)
            return Failed(failure=failure)


def explain_withheld_variable(
    raised: frames.RaisedFrame, withheld: AbstractSet[str]
) -> frames.RaisedFrame:
    """Explain a KeyError of a handler that read a variable which the child does not get."""
    name = raised.message.strip("'")
    if raised.type != KeyError.__name__ or name not in withheld:
        return raised
    remedy = (
        f"the worker does not pass its variable {name} to handlers with "
        f'isolation="process"; add it to the setting worker.pass_environment'
    )
    return msgspec.structs.replace(raised, message=f"{raised.message}: {remedy}")


def describe_exit(code: int) -> str:
    if code >= 0:
        return f"exited with code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:  # a real-time signal has no name
        name = f"signal {-code}"
    return f"was killed by {name}"
