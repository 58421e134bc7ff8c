"""One attempt of a shell job. Room: executors/shell.

Off unless the operator of the worker allows programs. A program gets an environment that holds
nothing of the worker's, a folder of its own that is removed afterwards, and the limits of
limits.py. Its output is passed on as it comes; a program that writes faster than that waits. How
it is stopped is told in warden.py.
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
from rota.core.describing import TaskDescription
from rota.core.errors import InvalidInput, InvalidSetting
from rota.core.executor import Context, Stream
from rota.core.outcome import Failed, Failure, Outcome, Succeeded
from rota.core.tenancy import DEFAULT_TENANT, DEFAULT_TENANTS, is_open_to, refuse_resource
from rota.core.time import moments
from rota.executors.shell.limits import ShellLimits
from rota.executors.shell.spec import ANY_PROGRAM, read_command
from rota.executors.shell.warded import BUFFER, Ending, Warded, warded
from rota.executors.shell.warden import Order

KIND = "shell"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TAIL = 4096
# All writers are dead by then; only one that not even SIGKILL ended can hold a stream open.
DRAINING = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellExecutor:
    """`allow` holds absolute paths as payloads write them, or `*`. `user` is whom programs run as
    if the worker is root; as the same user they can read what the worker can.
    """

    allow: Sequence[str] = ()
    limits: ShellLimits = field(default_factory=ShellLimits)
    user: str | None = None
    # Whose jobs may run programs; the operator allows none to the others.
    tenants: Sequence[str] = DEFAULT_TENANTS

    def __post_init__(self) -> None:
        for program in self.allow:
            path = PurePosixPath(program)
            if program != ANY_PROGRAM and (not path.is_absolute() or str(path) != program):
                wanted = "the absolute path of a program, or *"
                raise InvalidSetting("executors.shell_allow", program, wanted)
        account_of(self.user)

    @property
    def kinds(self) -> Sequence[str]:
        return (KIND,) if self.allow else ()

    def payload_schema(self, kind: str) -> Mapping[str, Any]:  # noqa: ARG002 — it has one
        return render_schema(ShellPayload)

    def describe_task(self, kind: str) -> TaskDescription:  # noqa: ARG002 — it has one
        return TaskDescription(text="Runs a program on the worker.")

    def read(self, kind: str, payload: Any) -> ShellPayload:
        return self.read_for(DEFAULT_TENANT, kind, payload)

    def read_for(self, tenant: str, kind: str, payload: Any) -> ShellPayload:
        if kind != KIND:
            raise InvalidInput("kind", kind, KIND)
        if not is_open_to(self.tenants, tenant):
            setting = "executors.shell_tenants"
            raise refuse_resource("kind", KIND, tenant=tenant, available=(), setting=setting)
        return read_command(payload, allow=self.allow)

    async def run(self, spec: ShellPayload, context: Context) -> Outcome:
        out, err = Tail(), Tail()
        async with warded(self._order(spec, context), spec.stdin) as program:
            ending = await follow(program, context, out, err)
        if ending.left:
            note = f"{ending.left} processes of this attempt could not be ended\n"
            context.write(Stream.ROTA, note.encode())
        return judge(spec, ending, out, err)

    async def open(self) -> None:
        pass

    async def close(self) -> None:
        pass

    def _order(self, spec: ShellPayload, context: Context) -> Order:
        uid, gid = account_of(self.user)
        home = tempfile.mkdtemp(prefix="rota-")
        given = {
            "ROTA_RUN_ID": str(context.run_id),
            "ROTA_ATTEMPT": str(context.attempt),
            "ROTA_IDEMPOTENCY_KEY": context.idempotency_key,
            "ROTA_SCHEDULED_AT": moments.rfc3339(context.scheduled_at),
        }
        if context.traceparent is not None:
            given["TRACEPARENT"] = context.traceparent
        usual = {"PATH": PATH, "LANG": "C.UTF-8", "HOME": home, "TMPDIR": home}
        return Order(
            argv=spec.argv,
            env={**usual, **spec.env, **given},
            home=home,
            cwd=spec.cwd or home,
            limits=self.limits.kernel(),
            uid=uid,
            gid=gid,
        )


class Tail:
    """The last bytes of a stream."""

    def __init__(self) -> None:
        self._kept = b""

    def add(self, chunk: bytes) -> None:
        self._kept = (self._kept + chunk)[-TAIL:]

    @property
    def text(self) -> str:
        """What fits into `TAIL` bytes as UTF-8; a NUL, which JSON in PostgreSQL cannot hold, and
        bytes that are no UTF-8 are shown as U+FFFD.
        """
        text = self._kept.decode(errors="replace").replace("\0", "�")
        return text.encode()[-TAIL:].decode(errors="ignore")


async def follow(program: Warded, context: Context, out: Tail, err: Tail) -> Ending:
    """Pass the output on until the program has ended, or has been stopped."""
    streams = (
        (program.process.stdout, Stream.STDOUT, out),
        (program.process.stderr, Stream.STDERR, err),
    )
    async with asyncio.TaskGroup() as group:
        pumps = [
            group.create_task(pump(source, stream, context, tail))
            for source, stream, tail in streams
            if source is not None
        ]
        try:
            ending = await program.ended()
        except asyncio.CancelledError:
            await program.stop(patience(context))
            raise
        finally:
            # The last words of a program that was stopped are worth as much as any others.
            _, open_still = await asyncio.wait(pumps, timeout=DRAINING)
            for one in open_still:
                one.cancel()
    return ending


async def pump(source: asyncio.StreamReader, stream: Stream, context: Context, tail: Tail) -> None:
    while chunk := await source.read(BUFFER):
        tail.add(chunk)
        context.write(stream, chunk)


def patience(context: Context) -> float:
    """A little less than the grace, so that killing and cleaning up are done within it."""
    grace = context.grace.total_seconds()
    return max(0.0, grace - min(1.0, grace / 10))


def judge(spec: ShellPayload, ending: Ending, out: Tail, err: Tail) -> Outcome:
    if ending.code in spec.ok_codes:
        return Succeeded(result={"exit_code": ending.code, "stdout_tail": out.text})
    if ending.code is not None:
        return failed(f"exit {ending.code}", f"{spec.argv[0]} ended with {ending.code}", err)
    if ending.signal is not None:
        name = signal_name(ending.signal)
        return failed(f"signal {name}", f"{spec.argv[0]} was ended by {name}", err)
    if ending.problem:
        return failed("cannot start", f"{spec.argv[0]}: {ending.problem}", err)
    return failed("warden lost", "the process that watched over the program was killed", err)


def failed(type_: str, message: str, err: Tail) -> Failed:
    said = err.text.strip()
    return Failed(failure=Failure(type=type_, message=f"{message}: {said}" if said else message))


def signal_name(number: int) -> str:
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return str(number)


def account_of(user: str | None) -> tuple[int, int]:
    """The numbers of a user; -1 stays who the worker is."""
    if user is None:
        return -1, -1
    with contextlib.suppress(KeyError):
        entry = pwd.getpwnam(user)
        return entry.pw_uid, entry.pw_gid
    raise InvalidSetting("executors.shell_user", user, "a user that this machine knows")
