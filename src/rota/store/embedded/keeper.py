"""Runs one embedded server in its own process: `python -m …embedded.keeper`.

There is one monitor per home. It inherits the locked keeper.lock and so holds it from its first
moment. It creates the cluster if there is none, then monitors the server (tending.py) until the
last user has released users.lock. Users come, go and are killed: the kernel keeps count. It uses
only the standard library and imports little, because it is part of every first start.
"""

import contextlib
import json
import os
import signal
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rota.core.errors import EmbeddedFailed
from rota.store.embedded import address, binaries, cluster, diagnosis, log
from rota.store.embedded.account import account_for
from rota.store.embedded.bell import Bell, NobodyLeft
from rota.store.embedded.cluster import Tools
from rota.store.embedded.endpoint import Endpoint, publish, withdraw
from rota.store.embedded.home import Home
from rota.store.embedded.locks import FileLock
from rota.store.embedded.order import Order
from rota.store.embedded.tending import Tending

# Less than the 90 s after which systemd kills a service.
DRAINING = 60.0


class Answer:
    """The one message to the process that started this one, which may have ended by then."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def ready(self, endpoint: Endpoint) -> None:
        self._send({"ready": asdict(endpoint)})

    def failed(self, problem: EmbeddedFailed) -> None:
        self._send({"failed": {"reason": problem.reason, "remedy": problem.remedy}})

    def _send(self, message: dict[str, Any]) -> None:
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                os.write(self._descriptor, json.dumps(message).encode())
            os.close(self._descriptor)
            self._descriptor = -1


def keep(order: Order, answer: Answer) -> None:
    """Run the server for as long as it has users."""
    home = Home(path=Path(order.home))
    bell = Bell()
    heed_signals(bell)
    threading.Thread(target=await_last_user, args=(home, bell), daemon=True).start()

    def announce(endpoint: Endpoint) -> None:
        publish(home, endpoint)
        answer.ready(endpoint)

    try:
        Tending(home=home, order=order, tools=prepared(home, order), bell=bell).run(announce)
    except NobodyLeft:
        log.say("no users left, stopping the server")
    finally:
        withdraw(home)
        address.leave(home)


def heed_signals(bell: Bell) -> None:
    """Stop at the second SIGTERM, or some time after the first.

    A shutdown of a machine or a service signals all processes at once. The users drain first and
    need the server for that; they release it when they are done.
    """

    def on_terminate(*_: object) -> None:
        signal.signal(signal.SIGTERM, lambda *_: bell.ring())
        timer = threading.Timer(DRAINING, bell.ring)
        timer.daemon = True
        timer.start()

    signal.signal(signal.SIGTERM, on_terminate)


def await_last_user(home: Home, bell: Bell) -> None:
    FileLock(home.users_lock).wait_exclusive()
    bell.ring()


def prepared(home: Home, order: Order) -> Tools:
    """Find the programs and make sure that there is a cluster."""
    cluster.sweep(home)
    account = account_for(home.data)
    major = cluster.major_of(home.data)
    folders = [Path(folder) for folder in order.binaries]
    install = binaries.choose(folders, account=account, major=major)
    tools = Tools(install=install, account=account, durable=order.durable)
    if major is None:
        cluster.make(home, tools)
    else:
        cluster.check(home, tools)
    return tools


def main() -> int:
    order = Order.from_word(sys.argv[1])
    # The process that started this one must not have to reap it: it may live longer.
    if os.fork():
        os._exit(0)
    answer = Answer(order.report)
    try:
        keep(order, answer)
    except EmbeddedFailed as error:
        problem = error
    except OSError as error:
        problem = diagnosis.of_os_error(error, Path(order.home))
    else:
        return 0
    log.say(str(problem))
    answer.failed(problem)
    return 1


if __name__ == "__main__":
    sys.exit(main())
