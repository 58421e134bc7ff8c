"""Runs one attempt of a shell job.

The kind is off until the operator of the worker allows programs. A program gets an environment
without the worker's variables, a folder of its own that is removed afterwards, and the limits of
limits.py. The executor passes its output on as it arrives; a program that writes faster waits. The
supervisor process stops the program.
"""

import asyncio
import contextlib
import pwd
import signal
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from rota.contract.payloads.shell import ShellPayload
from rota.contract.schemas import render_schema
from rota.core.errors import InvalidInput, InvalidSetting
from rota.core.executor import AttemptContext, Stream
from rota.core.kind_descriptions import TaskDescription
from rota.core.outcome import Failed, Failure, Outcome, Succeeded
from rota.core.tenancy import DEFAULT_TENANT, DEFAULT_TENANTS, build_resource_error, is_open_to
from rota.core.time import moments
from rota.executors.shell.limits import ShellLimits
from rota.executors.shell.spec import ANY_PROGRAM, read_command
from rota.executors.shell.supervised_child import (
    OUTPUT_BUFFER_BYTES,
    ProgramExit,
    SupervisedChild,
    start_supervised,
)
from rota.executors.shell.supervisor import ProgramOrder

KIND = "shell"
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TAIL_BYTES = 4096
# All writers are dead by then; only a process that survived SIGKILL can hold a stream open.
OUTPUT_DRAIN_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellExecutor:
    """Runs programs. `allow` lists absolute paths as payloads write them, or `*`.

    `user` is the user that programs run as if the worker is root. Default: the worker's user, which
    lets programs read everything that the worker can read.
    """

    allow: Sequence[str] = ()
    limits: ShellLimits = field(default_factory=ShellLimits)
    user: str | None = None
    # The tenants whose jobs may run programs.
    tenants: Sequence[str] = DEFAULT_TENANTS

    def __post_init__(self) -> None:
        for program in self.allow:
            path = PurePosixPath(program)
            if program != ANY_PROGRAM and (not path.is_absolute() or str(path) != program):
                wanted = "expected the absolute path of a program, or *"
                raise InvalidSetting("executors.shell_allow", program, wanted)
        find_account(self.user)

    @property
    def kinds(self) -> Sequence[str]:
        return (KIND,) if self.allow else ()

    def payload_schema(self, kind: str) -> Mapping[str, Any]:  # noqa: ARG002 — it has one kind
        return render_schema(ShellPayload)

    def describe_task(self, kind: str) -> TaskDescription:  # noqa: ARG002 — it has one kind
        return TaskDescription(text="Runs a program on the worker.")

    def read(self, kind: str, payload: Any) -> ShellPayload:
        return self.read_for(DEFAULT_TENANT, kind, payload)

    def read_for(self, tenant: str, kind: str, payload: Any) -> ShellPayload:
        if kind != KIND:
            raise InvalidInput("kind", kind, f"expected {KIND}")
        if not is_open_to(self.tenants, tenant):
            setting = "executors.shell_tenants"
            raise build_resource_error("kind", KIND, tenant=tenant, available=(), setting=setting)
        return read_command(payload, allow=self.allow)

    async def run(self, spec: ShellPayload, context: AttemptContext) -> Outcome:
        out, err = OutputTail(), OutputTail()
        async with start_supervised(self._order(spec, context), spec.stdin) as program:
            ending = await follow_program(program, context, out, err)
        if ending.left:
            note = f"{ending.left} processes of this attempt could not be killed\n"
            context.write(Stream.ROTA, note.encode())
        return build_outcome(spec, ending, out, err)

    async def open(self) -> None:
        pass

    async def close(self) -> None:
        pass

    def _order(self, spec: ShellPayload, context: AttemptContext) -> ProgramOrder:
        uid, gid = find_account(self.user)
        home = tempfile.mkdtemp(prefix="rota-")
        run_variables = {
            "ROTA_RUN_ID": str(context.run_id),
            "ROTA_ATTEMPT": str(context.attempt),
            "ROTA_IDEMPOTENCY_KEY": context.idempotency_key,
            "ROTA_SCHEDULED_AT": moments.to_rfc3339(context.scheduled_at),
        }
        if context.traceparent is not None:
            run_variables["TRACEPARENT"] = context.traceparent
        defaults = {"PATH": DEFAULT_PATH, "LANG": "C.UTF-8", "HOME": home, "TMPDIR": home}
        return ProgramOrder(
            argv=spec.argv,
            env={**defaults, **spec.env, **run_variables},
            home=home,
            cwd=spec.cwd or home,
            limits=self.limits.to_rlimits(),
            uid=uid,
            gid=gid,
        )


class OutputTail:
    """Keeps the last bytes of a stream."""

    def __init__(self) -> None:
        self._kept = b""

    def add(self, chunk: bytes) -> None:
        self._kept = (self._kept + chunk)[-TAIL_BYTES:]

    @property
    def text(self) -> str:
        """The last `TAIL` bytes as text. U+FFFD replaces invalid UTF-8, and NUL, which PostgreSQL
        cannot store in JSON.
        """
        text = self._kept.decode(errors="replace").replace("\0", "�")
        return text.encode()[-TAIL_BYTES:].decode(errors="ignore")


async def follow_program(
    program: SupervisedChild, context: AttemptContext, out: OutputTail, err: OutputTail
) -> ProgramExit:
    """Pass the output on until the program has exited or has been stopped."""
    streams = (
        (program.process.stdout, Stream.STDOUT, out),
        (program.process.stderr, Stream.STDERR, err),
    )
    async with asyncio.TaskGroup() as group:
        pumps = [
            group.create_task(pump_stream(source, stream, context, tail))
            for source, stream, tail in streams
            if source is not None
        ]
        try:
            ending = await program.wait_for_exit()
        except asyncio.CancelledError:
            await program.stop(stop_grace_s(context))
            raise
        finally:
            # The last output of a stopped program matters as well.
            _, unfinished = await asyncio.wait(pumps, timeout=OUTPUT_DRAIN_TIMEOUT_S)
            for task in unfinished:
                task.cancel()
    return ending


async def pump_stream(
    source: asyncio.StreamReader, stream: Stream, context: AttemptContext, tail: OutputTail
) -> None:
    while chunk := await source.read(OUTPUT_BUFFER_BYTES):
        tail.add(chunk)
        context.write(stream, chunk)


def stop_grace_s(context: AttemptContext) -> float:
    """Return slightly less than the grace period, which leaves time to kill and clean up."""
    grace = context.grace.total_seconds()
    return max(0.0, grace - min(1.0, grace / 10))


def build_outcome(
    spec: ShellPayload, ending: ProgramExit, out: OutputTail, err: OutputTail
) -> Outcome:
    if ending.code in spec.ok_codes:
        return Succeeded(result={"exit_code": ending.code, "stdout_tail": out.text})
    if ending.code is not None:
        return build_failed(f"exit {ending.code}", f"{spec.argv[0]} exited with {ending.code}", err)
    if ending.signal is not None:
        name = describe_signal(ending.signal)
        return build_failed(f"signal {name}", f"{spec.argv[0]} was killed by {name}", err)
    if ending.problem:
        return build_failed("cannot start", f"{spec.argv[0]}: {ending.problem}", err)
    return build_failed("supervisor lost", "the program's supervisor process was killed", err)


def build_failed(type_: str, message: str, err: OutputTail) -> Failed:
    tail = err.text.strip()
    return Failed(failure=Failure(type=type_, message=f"{message}: {tail}" if tail else message))


def describe_signal(number: int) -> str:
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return str(number)


def find_account(user: str | None) -> tuple[int, int]:
    """Return uid and gid of a user; -1 keeps the worker's own."""
    if user is None:
        return -1, -1
    with contextlib.suppress(KeyError):
        entry = pwd.getpwnam(user)
        return entry.pw_uid, entry.pw_gid
    raise InvalidSetting("executors.shell_user", user, "expected a user of this machine")
