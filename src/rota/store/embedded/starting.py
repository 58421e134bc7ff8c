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
from rota.store.embedded.endpoint import Endpoint, published, withdraw
from rota.store.embedded.home import Home, open_home
from rota.store.embedded.locks import FileLock
from rota.store.embedded.order import Order
from rota.store.embedded.waiting import until


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of an embedded server; the defaults suit almost every use."""

    binaries: Path | None = None  # the only folder of programs to use
    port: int | None = None  # fails if the port is in use
    settings: Mapping[str, str] = field(default_factory=dict)  # added to postgresql.conf
    patience: timedelta = timedelta(minutes=5)  # allows for recovery after a crash


class Embedded:
    """A share in a running server. Released by `close`, at the end of `with`, or on exit."""

    def __init__(self, home: Home, options: Options, *, durable: bool) -> None:
        self.home = home.path
        self.durable = durable
        self._place = home
        self._options = options
        self._users = FileLock(home.users_lock)
        try:
            self.ensure()
        except BaseException:
            self.close()
            raise

    def ensure(self) -> None:
        """Make sure the server runs; needed only if its monitor was killed as well."""
        try:
            endpoint = join(self._place, self._users, self._options, durable=self.durable)
            password = self._place.password.read_text(encoding="ascii")
        except OSError as error:
            raise diagnosis.of_os_error(error, self.home) from error
        self.version = endpoint.version
        self.url = endpoint.url(password)
        self.tcp_url = endpoint.tcp_url(password)

    def close(self) -> None:
        """Release the share. The server stops when its last user has released it."""
        with contextlib.suppress(EmbeddedFailed, OSError):  # the home may be gone
            if self._users.is_open and self._is_abandoned():
                self.ensure()  # otherwise no process would stop it
        self._users.close()

    def _is_abandoned(self) -> bool:
        """Return whether the server runs without its monitor, which was killed."""
        with FileLock(self._place.keeper_lock) as keeper, FileLock(self._place.server_lock) as lock:
            return keeper.try_exclusive() and not lock.try_exclusive()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def start(home: Path, *, durable: bool = True, options: Options | None = None) -> Embedded:
    """Return a share in the server of this home, which is ready for connections.

    `durable=False` creates a home for tests: fast, but a crash may destroy it. This cannot be
    changed later.
    """
    options = options or Options()
    refuse_wrong(options)
    place = open_home(home)
    try:
        return Embedded(place, options, durable=durable)
    except OSError as error:
        raise diagnosis.of_os_error(error, place.path) from error


def refuse_wrong(options: Options) -> None:
    settings.refuse_unfit(options.settings)
    if options.port is not None and not 1 <= options.port <= 65535:
        raise InvalidSetting(
            field="embedded.port", value=options.port, wanted="must be a number from 1 to 65535"
        )


def join(home: Home, users: FileLock, options: Options, *, durable: bool) -> Endpoint:
    """Become a user of the server, then find it or start it."""
    deadline = time.monotonic() + options.patience.total_seconds()
    found: list[Endpoint] = []

    def answers() -> bool:
        with FileLock(home.keeper_lock) as lock:
            if lock.try_exclusive():
                # No monitor lives, so the published endpoint is void.
                withdraw(home)
                found.append(have_started(home, lock, options, durable=durable))
            else:
                # The monitor and the server may have just been killed: try to connect.
                endpoint = published(home)
                found.extend([endpoint] if endpoint and endpoint.is_open() else [])
        return bool(found)

    if not until(users.try_shared, seconds=options.patience.total_seconds()):
        raise too_slow("the server is still stopping")
    if not until(answers, seconds=deadline - time.monotonic()):
        raise too_slow("the server is still starting")
    refuse_clash(home, found[0], options, durable=durable)
    return found[0]


def refuse_clash(home: Home, endpoint: Endpoint, options: Options, *, durable: bool) -> None:
    """Refuse a share in a server that runs with other options than requested."""
    if endpoint.durable != durable:
        raise cluster.wrong_mode(home, asked=durable)
    if options.port not in {None, endpoint.port}:
        raise EmbeddedFailed(
            reason=f"the server of {home.path} already runs on port {endpoint.port}",
            remedy=f"request that port or none; to use {options.port}, stop the server first",
        )


def have_started(home: Home, lock: FileLock, options: Options, *, durable: bool) -> Endpoint:
    """Start a server monitor, pass it the lock, and wait for its answer."""
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, "rb", buffering=0) as answer:
        order = Order(
            home=str(home.path),
            durable=durable,
            port=options.port,
            settings=dict(options.settings),
            binaries=[str(folder) for folder in binaries.candidates(options.binaries)],
            lock=lock.fd,
            report=write_end,
        )
        since = log.size(home.log)
        try:
            spawn(order, home)
        finally:
            os.close(write_end)
        # From here on only the monitor holds the lock: if it dies, the lock must be free.
        lock.close()
        poll = select.poll()  # not select, which supports only the first 1024 open files
        poll.register(answer, select.POLLIN)
        if not poll.poll(options.patience.total_seconds() * 1000):
            raise too_slow("the server is still starting")
        return read_answer(answer.read(), home, since)


def read_answer(said: bytes, home: Home, since: int) -> Endpoint:
    if not said:
        output = log.since(home.log, since)
        raise diagnosis.of_output(output, doing="running the server monitor", home=home.path)
    message = json.loads(said)
    if "failed" in message:
        raise EmbeddedFailed(**message["failed"])
    return Endpoint(**message["ready"])


def spawn(order: Order, home: Home) -> None:
    """Start the monitor in its own session; Ctrl-C in a terminal does not reach it."""
    # Without site: the monitor needs only the standard library and this package, and starts faster.
    command = [sys.executable, "-S", "-P", "-m", "rota.store.embedded.keeper", order.to_word()]
    root = Path(rota.__file__).parent.parent
    with log.appending(home.log) as output:
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


def too_slow(what: str) -> EmbeddedFailed:
    return EmbeddedFailed(reason=f"{what} after the time limit", remedy=diagnosis.READ_THE_LOG)
