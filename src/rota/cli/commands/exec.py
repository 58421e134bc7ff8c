"""`rota exec -- command`: a cron line that is on record as a run. Room: cli.

The command comes first: it runs whether the server is there or not, its output and its exit code
are its own, and a server that is slow costs it a few seconds once.
"""

import os
import shlex
import signal
import socket
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rota.cli.options import key_in, some
from rota.core.errors import RotaError
from rota.core.origins import ChangeOrigin
from rota.core.policy import LONGEST_TIMEOUT
from rota.core.time import durations
from rota.runtime.clock import SystemClock
from rota.sdk.importing.command_names import name_of
from rota.sdk.outside.command import TIMED_OUT, Command, failure_of
from rota.sdk.outside.recording import Recording

if TYPE_CHECKING:
    from rota.sdk.client import Client

# How long a server may take to answer before the command goes on without it.
PATIENCE: Final = 5.0
# How often it is told that the command goes on: far more often than its lease is long.
BEAT: Final = 3.0
GRACE: Final = 10.0
SHORTEST: Final = timedelta(milliseconds=100)


def exec_(
    *argv: str,
    job: str | None = None,
    timeout: str | None = None,
    url: str | None = None,
    key_file: Path | None = None,
) -> int:
    """Run a command and record it as a run. Its output and its exit code are passed on.

    If the server is away, the command runs all the same.

    Parameters
    ----------
    argv
        The command, after two dashes: rota exec --job backup -- /usr/local/bin/backup --full
    job
        The job that it is a run of (default: the name of the command). Made if there is none.
    timeout
        End the command after this time, as in 30m; the exit code is 124 then.
    url
        Address of the API. Default: ROTA_URL, then what `rota up` wrote into .rota of this folder
        or a parent, then http://127.0.0.1:7070.
    key_file
        File with the API key. Default: the key in ROTA_API_KEY, then .rota/admin.key of this folder
        or a parent.
    """
    some("command", argv)
    limit = None
    if timeout is not None:
        limit = durations.parse(
            timeout, field="--timeout", shortest=SHORTEST, longest=LONGEST_TIMEOUT
        )
    recording = Recording(opened(url, key_file), complain)
    recording.begin(
        job=job or name_of(shlex.join(argv)),
        host=f"{socket.gethostname()}:{os.getpid()}",
        payload={"argv": list(argv)},
    )
    return carry_out(argv, recording, limit)


def opened(url: str | None, key_file: Path | None) -> "Client | None":
    """A client that is quick to give up; None, and a word about it, if there can be none."""
    from rota.sdk.client import Client  # noqa: PLC0415 — brings the HTTP library with it

    try:
        key = None if key_file is None else key_in(key_file)
        return Client(url, key, timeout=PATIENCE, retries=0, origin=ChangeOrigin.CLI)
    except RotaError as error:
        complain(f"this run is not recorded: {error}")
        return None


def carry_out(argv: Sequence[str], recording: Recording, limit: timedelta | None) -> int:
    try:
        command = Command(argv, recording.output.write)
    except OSError as error:
        code, why = failure_of(error, argv[0])
        complain(why)
        recording.end(code, why)
        return code
    is_late = watch(command, recording, limit)
    command.drain(GRACE)
    code = TIMED_OUT if is_late else command.exit_code
    why = f"it took longer than {durations.words(limit)}" if limit and is_late else command.why
    recording.end(code, why)
    return code


def watch(command: Command, recording: Recording, limit: timedelta | None) -> bool:
    """Wait for the end, and tell of the way there; True if the command had to be stopped for its
    time.
    """
    clock = SystemClock()
    began = clock.monotonic()
    asked_at: float | None = None
    is_late = False
    while not command.wait(until_next(clock.monotonic() - began, limit, is_asked=bool(asked_at))):
        now = clock.monotonic()
        if limit is not None and not is_late and now - began >= limit.total_seconds():
            is_late = True
        if (recording.tell() or is_late) and asked_at is None:
            asked_at = now
            command.send(signal.SIGTERM)
        elif asked_at is not None and now - asked_at >= GRACE:
            command.send(signal.SIGKILL)
    return is_late


def until_next(passed: float, limit: timedelta | None, *, is_asked: bool) -> float:
    """How long to wait for the end before looking again."""
    if limit is None or is_asked:
        return BEAT
    return max(0.0, min(BEAT, limit.total_seconds() - passed))


def complain(said: str) -> None:
    """On standard error, which cron mails; the output is the command's."""
    print(f"rota exec: {' '.join(said.split())}", file=sys.stderr, flush=True)
