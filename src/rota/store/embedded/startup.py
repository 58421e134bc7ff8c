"""Joins a running server, or starts it first.

Runs in the process that uses the database. It holds users.lock from before the server starts until
it closes or dies; there is no other bookkeeping. Blocks, so asyncio calls it through
`asyncio.to_thread`.
"""

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Self

import rota
from rota.core.child_environment import select_environment
from rota.core.errors import EmbeddedFailed, InvalidSetting
from rota.store.embedded import binaries, cluster, diagnosis, log, settings
from rota.store.embedded.endpoint import Endpoint, read_endpoint, withdraw_endpoint
from rota.store.embedded.home import EmbeddedHome, open_home
from rota.store.embedded.locks import FileLock
from rota.store.embedded.monitor_options import MonitorOptions
from rota.store.embedded.polling import wait_until


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedOptions:
    """Options of an embedded server; the defaults suit almost every use."""

    binaries: Path | None = None  # the only folder of programs to use
    port: int | None = None  # fails if the port is in use
    settings: Mapping[str, str] = field(default_factory=dict)  # added to postgresql.conf
    patience: timedelta = timedelta(minutes=5)  # allows for recovery after a crash


class Embedded:
    """A share in a running server. Released by `close`, at the end of `with`, or on exit."""

    def __init__(self, home: EmbeddedHome, options: EmbeddedOptions, *, durable: bool) -> None:
        self.home = home.path
        self.durable = durable
        self._place = home
        self._options = options
        self._users = FileLock(home.users_lock)
        try:
            self.ensure_running()
        except BaseException:
            self.close()
            raise

    def ensure_running(self) -> None:
        """Make sure the server runs; needed only if its monitor was killed as well."""
        try:
            endpoint = join_server(self._place, self._users, self._options, durable=self.durable)
            password = self._place.password.read_text(encoding="ascii")
        except OSError as error:
            raise diagnosis.diagnose_os_error(error, self.home) from error
        self.version = endpoint.version
        self.url = endpoint.url(password)
        self.tcp_url = endpoint.tcp_url(password)

    def close(self) -> None:
        """Release the share. The server stops when its last user has released it."""
        with contextlib.suppress(EmbeddedFailed, OSError):  # the home may be gone
            if self._users.is_open and self._is_abandoned():
                self.ensure_running()  # otherwise no process would stop it
        self._users.close()

    def _is_abandoned(self) -> bool:
        """Return whether the server runs without its monitor, which was killed."""
        with (
            FileLock(self._place.monitor_lock) as keeper,
            FileLock(self._place.server_lock) as lock,
        ):
            return keeper.try_exclusive() and not lock.try_exclusive()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def start(home: Path, *, durable: bool = True, options: EmbeddedOptions | None = None) -> Embedded:
    """Return a share in the server of this home, which is ready for connections.

    `durable=False` creates a home for tests: fast, but a crash may destroy it. This cannot be
    changed later.
    """
    options = options or EmbeddedOptions()
    refuse_invalid_options(options)
    place = open_home(home)
    try:
        return Embedded(place, options, durable=durable)
    except OSError as error:
        raise diagnosis.diagnose_os_error(error, place.path) from error


def refuse_invalid_options(options: EmbeddedOptions) -> None:
    settings.refuse_reserved(options.settings)
    if options.port is not None and not 1 <= options.port <= 65535:
        raise InvalidSetting(
            field="embedded.port", value=options.port, wanted="must be a number from 1 to 65535"
        )


def join_server(
    home: EmbeddedHome, users: FileLock, options: EmbeddedOptions, *, durable: bool
) -> Endpoint:
    """Become a user of the server, then find it or start it."""
    deadline = time.monotonic() + options.patience.total_seconds()
    found: list[Endpoint] = []

    def answers() -> bool:
        with FileLock(home.monitor_lock) as lock:
            if lock.try_exclusive():
                # No monitor lives, so the published endpoint is void.
                withdraw_endpoint(home)
                found.append(start_monitor(home, lock, options, durable=durable))
            else:
                # The monitor and the server may have just been killed: try to connect.
                endpoint = read_endpoint(home)
                found.extend([endpoint] if endpoint and endpoint.is_open() else [])
        return bool(found)

    if not wait_until(users.try_shared, seconds=options.patience.total_seconds()):
        raise timeout_error("the server is still stopping")
    if not wait_until(answers, seconds=deadline - time.monotonic()):
        raise timeout_error("the server is still starting")
    refuse_mismatch(home, found[0], options, durable=durable)
    return found[0]


def refuse_mismatch(
    home: EmbeddedHome, endpoint: Endpoint, options: EmbeddedOptions, *, durable: bool
) -> None:
    """Refuse a share in a server that runs with other options than requested."""
    if endpoint.durable != durable:
        raise cluster.durability_mismatch(home, requested=durable)
    if options.port not in {None, endpoint.port}:
        raise EmbeddedFailed(
            reason=f"the server of {home.path} already runs on port {endpoint.port}",
            remedy=f"request that port or none; to use {options.port}, stop the server first",
        )


def start_monitor(
    home: EmbeddedHome, lock: FileLock, options: EmbeddedOptions, *, durable: bool
) -> Endpoint:
    """Start a server monitor, pass it the lock, and wait for its answer."""
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, "rb", buffering=0) as answer:
        order = MonitorOptions(
            home=str(home.path),
            durable=durable,
            port=options.port,
            settings=dict(options.settings),
            binaries=[str(folder) for folder in binaries.list_folders(options.binaries)],
            lock=lock.fd,
            report=write_end,
        )
        since = log.log_size(home.log)
        try:
            spawn_monitor(order, home)
        finally:
            os.close(write_end)
        # From here on only the monitor holds the lock: if it dies, the lock must be free.
        lock.close()
        poll = select.poll()  # not select, which supports only the first 1024 open files
        poll.register(answer, select.POLLIN)
        if not poll.poll(options.patience.total_seconds() * 1000):
            raise timeout_error("the server is still starting")
        return read_start_report(answer.read(), home, since)


def read_start_report(report: bytes, home: EmbeddedHome, since: int) -> Endpoint:
    if not report:
        output = log.read_since(home.log, since)
        raise diagnosis.diagnose_output(output, doing="running the server monitor", home=home.path)
    message = json.loads(report)
    if "failed" in message:
        raise EmbeddedFailed(**message["failed"])
    return Endpoint(**message["ready"])


def spawn_monitor(order: MonitorOptions, home: EmbeddedHome) -> None:
    """Start the monitor in its own session; Ctrl-C in a terminal does not reach it."""
    # Without site: the monitor needs only the standard library and this package, and starts faster.
    command = [
        sys.executable,
        "-S",
        "-P",
        "-m",
        "rota.store.embedded.monitor_process",
        order.to_argument(),
    ]
    root = Path(rota.__file__).parent.parent
    with log.open_for_append(home.log) as output:
        subprocess.run(
            command,
            cwd="/",
            env=select_environment(os.environ) | {"PYTHONPATH": str(root)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=(order.lock, order.report),
            start_new_session=True,
            umask=0o077,
            check=False,
        )


def timeout_error(state: str) -> EmbeddedFailed:
    return EmbeddedFailed(reason=f"{state} after the time limit", remedy=diagnosis.READ_THE_LOG)
