"""Joins the users of a server, and has it started if need be. Room: store/embedded.

Runs in the process that wants to use the database. It holds users.lock from before the server is
there until it lets go or dies; that is all the bookkeeping there is. Blocks, so asyncio calls it
through `asyncio.to_thread`.
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
from rota.core.child_environment import inherited_environment
from rota.core.errors import EmbeddedFailed, InvalidSetting
from rota.store.embedded import binaries, cluster, diagnosis, log, settings
from rota.store.embedded.endpoint import Endpoint, published, withdraw
from rota.store.embedded.home import Home, open_home
from rota.store.embedded.locks import FileLock
from rota.store.embedded.order import Order
from rota.store.embedded.waiting import until


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What may be chosen about an embedded server; the defaults are right for nearly everybody."""

    binaries: Path | None = None  # the only folder of programs to use
    port: int | None = None  # demanded: taken means failure
    settings: Mapping[str, str] = field(default_factory=dict)  # wishes for postgresql.conf
    patience: timedelta = timedelta(minutes=5)  # for recovery after a crash


class Embedded:
    """A share in a running server. Let go by `close`, by leaving `with`, or by dying."""

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
        """Have the server running again; needed only if its keeper was killed as well."""
        try:
            endpoint = join(self._place, self._users, self._options, durable=self.durable)
            password = self._place.password.read_text(encoding="ascii")
        except OSError as error:
            raise diagnosis.of_os_error(error, self.home) from error
        self.version = endpoint.version
        self.url = endpoint.url(password)
        self.tcp_url = endpoint.tcp_url(password)

    def close(self) -> None:
        """Let go. The server stops by itself when the last user has."""
        with contextlib.suppress(EmbeddedFailed, OSError):  # the home may be gone
            if self._users.is_open and self._is_abandoned():
                self.ensure()  # else nobody would stop it
        self._users.close()

    def _is_abandoned(self) -> bool:
        """Whether the server runs without a keeper, because that one was killed."""
        with FileLock(self._place.keeper_lock) as keeper, FileLock(self._place.server_lock) as lock:
            return keeper.try_exclusive() and not lock.try_exclusive()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def start(home: Path, *, durable: bool = True, options: Options | None = None) -> Embedded:
    """Return a share in the server of this home, which runs and answers by then.

    `durable=False` makes a home for tests: fast, and a crash may destroy it. A home is one or the
    other for life.
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
            field="embedded.port", value=options.port, wanted="a number from 1 to 65535"
        )


def join(home: Home, users: FileLock, options: Options, *, durable: bool) -> Endpoint:
    """Become a user, then find the server or have it started."""
    deadline = time.monotonic() + options.patience.total_seconds()
    found: list[Endpoint] = []

    def answers() -> bool:
        with FileLock(home.keeper_lock) as lock:
            if lock.try_exclusive():
                # No keeper lives, so what the last one published is void.
                withdraw(home)
                found.append(have_started(home, lock, options, durable=durable))
            else:
                # The keeper and the server may have been killed a moment ago: knock.
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
    """Refuse a share in a server that runs otherwise than asked for."""
    if endpoint.durable != durable:
        raise cluster.wrong_mode(home, asked=durable)
    if options.port not in {None, endpoint.port}:
        raise EmbeddedFailed(
            reason=f"the server of {home.path} runs already, on the port {endpoint.port}",
            remedy=f"ask for that port or for none; {options.port} is free to use after a stop",
        )


def have_started(home: Home, lock: FileLock, options: Options, *, durable: bool) -> Endpoint:
    """Start a keeper, hand it the lock, and wait for its answer."""
    hearing, telling = os.pipe()
    with os.fdopen(hearing, "rb", buffering=0) as answer:
        order = Order(
            home=str(home.path),
            durable=durable,
            port=options.port,
            settings=dict(options.settings),
            binaries=[str(folder) for folder in binaries.candidates(options.binaries)],
            lock=lock.fd,
            report=telling,
        )
        since = log.size(home.log)
        try:
            spawn(order, home)
        finally:
            os.close(telling)
        # From here on the lock is the keeper's alone: were it to die, it must be free.
        lock.close()
        waiting = select.poll()  # not select, which knows only the first 1024 open files
        waiting.register(answer, select.POLLIN)
        if not waiting.poll(options.patience.total_seconds() * 1000):
            raise too_slow("the server is still starting")
        return read_answer(answer.read(), home, since)


def read_answer(said: bytes, home: Home, since: int) -> Endpoint:
    if not said:
        last_words = log.since(home.log, since)
        raise diagnosis.of_output(last_words, doing="running the keeper", home=home.path)
    message = json.loads(said)
    if "failed" in message:
        raise EmbeddedFailed(**message["failed"])
    return Endpoint(**message["ready"])


def spawn(order: Order, home: Home) -> None:
    """Start the keeper in a session of its own; Ctrl-C in a terminal does not reach it."""
    # Without site: the keeper needs the standard library and this package, and starts sooner.
    command = [sys.executable, "-S", "-P", "-m", "rota.store.embedded.keeper", order.to_word()]
    root = Path(rota.__file__).parent.parent
    with log.appending(home.log) as said:
        subprocess.run(
            command,
            cwd="/",
            env=inherited_environment(os.environ) | {"PYTHONPATH": str(root)},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            pass_fds=(order.lock, order.report),
            start_new_session=True,
            umask=0o077,
            check=False,
        )


def too_slow(what: str) -> EmbeddedFailed:
    return EmbeddedFailed(
        reason=f"{what} after all the time it was given", remedy=diagnosis.READ_THE_LOG
    )
