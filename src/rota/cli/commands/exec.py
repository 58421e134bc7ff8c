"""`rota exec -- command`: runs a command, such as a cron line, and records it as a run.

The command has priority: it runs even if the server is unreachable, its output and exit code pass
through, and a slow server delays it by a few seconds at most, once.
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

from rota.cli.api_options import read_key_file, require_arguments
from rota.core.errors import RotaError
from rota.core.origins import ChangeOrigin
from rota.core.policy import TIMEOUT_MAX
from rota.core.time import durations
from rota.runtime.clock import SystemClock
from rota.sdk.external.command import TIMED_OUT_EXIT_CODE, ExternalCommand, describe_start_failure
from rota.sdk.external.run_reporter import RunReporter
from rota.sdk.importers.command_names import derive_name

if TYPE_CHECKING:
    from rota.sdk.client import Client

# How long to wait for the server before the command runs without it.
REQUEST_TIMEOUT_S: Final = 5.0
# Heartbeat interval in seconds, far shorter than the lease.
HEARTBEAT_INTERVAL_S: Final = 3.0
STOP_GRACE_S: Final = 10.0
TIMEOUT_MIN: Final = timedelta(milliseconds=100)


def exec_(
    *argv: str,
    job: str | None = None,
    timeout: str | None = None,
    url: str | None = None,
    key_file: Path | None = None,
) -> int:
    """Run a command and record it as a run. Its output and exit code pass through.

    The command runs even if the server is unreachable.

    Parameters
    ----------
    argv
        The command, after two dashes: rota exec --job backup -- /usr/local/bin/backup --full.
    job
        Job to record the run under; it is created if missing. Default: the name of the command.
    timeout
        Stop the command after this time, such as 30m, with exit code 124. Default: no limit.
    url
        Address of the API. Default: ROTA_URL, then the address that `rota up` wrote to .rota in
        this folder or a parent, then http://127.0.0.1:7070.
    key_file
        File with the API key. Default: the key in ROTA_API_KEY, then .rota/admin.key in this folder
        or a parent.
    """
    require_arguments("command", argv)
    limit = None
    if timeout is not None:
        limit = durations.parse(
            timeout, field="--timeout", minimum=TIMEOUT_MIN, maximum=TIMEOUT_MAX
        )
    recording = RunReporter(open_client(url, key_file), print_warning)
    recording.report_start(
        job=job or derive_name(shlex.join(argv)),
        host=f"{socket.gethostname()}:{os.getpid()}",
        payload={"argv": list(argv)},
    )
    return run_command(argv, recording, limit)


def open_client(url: str | None, key_file: Path | None) -> "Client | None":
    """Open a client with a short timeout; without one, print why and return None."""
    from rota.sdk.client import Client  # noqa: PLC0415 - imports the HTTP library

    try:
        key = None if key_file is None else read_key_file(key_file)
        return Client(url, key, timeout=REQUEST_TIMEOUT_S, retries=0, origin=ChangeOrigin.CLI)
    except RotaError as error:
        print_warning(f"this run is not recorded: {error}")
        return None


def run_command(argv: Sequence[str], recording: RunReporter, limit: timedelta | None) -> int:
    try:
        command = ExternalCommand(argv, recording.output.write)
    except OSError as error:
        code, why = describe_start_failure(error, argv[0])
        print_warning(why)
        recording.report_end(code, why)
        return code
    is_late = watch_command(command, recording, limit)
    command.drain(STOP_GRACE_S)
    code = TIMED_OUT_EXIT_CODE if is_late else command.exit_code
    why = (
        f"timed out after {durations.to_words(limit)}" if limit and is_late else command.exit_reason
    )
    recording.report_end(code, why)
    return code


def watch_command(
    command: ExternalCommand, recording: RunReporter, limit: timedelta | None
) -> bool:
    """Wait for the command and send heartbeats. Return True if it was stopped by the timeout."""
    clock = SystemClock()
    started = clock.monotonic()
    asked_at: float | None = None
    is_late = False
    while not command.wait(
        compute_wait_s(clock.monotonic() - started, limit, is_stopping=bool(asked_at))
    ):
        now = clock.monotonic()
        if limit is not None and not is_late and now - started >= limit.total_seconds():
            is_late = True
        if (recording.report_progress() or is_late) and asked_at is None:
            asked_at = now
            command.send_signal(signal.SIGTERM)
        elif asked_at is not None and now - asked_at >= STOP_GRACE_S:
            command.send_signal(signal.SIGKILL)
    return is_late


def compute_wait_s(elapsed_s: float, limit: timedelta | None, *, is_stopping: bool) -> float:
    """Return the seconds to wait before the next check."""
    if limit is None or is_stopping:
        return HEARTBEAT_INTERVAL_S
    return max(0.0, min(HEARTBEAT_INTERVAL_S, limit.total_seconds() - elapsed_s))


def print_warning(message: str) -> None:
    """Print to standard error, which cron mails; standard output belongs to the command."""
    print(f"rota exec: {' '.join(message.split())}", file=sys.stderr, flush=True)
