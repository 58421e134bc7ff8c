"""Runs one embedded server in its own process: `python -m …embedded.keeper`.

There is one monitor per home. It inherits the locked keeper.lock and so holds it from its first
moment. It creates a missing cluster, then monitors the server (tending.py) until the
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
from rota.store.embedded.account import choose_account
from rota.store.embedded.cluster import ClusterTools
from rota.store.embedded.endpoint import Endpoint, publish_endpoint, withdraw_endpoint
from rota.store.embedded.home import EmbeddedHome
from rota.store.embedded.locks import FileLock
from rota.store.embedded.monitor_options import MonitorOptions
from rota.store.embedded.server_monitor import ServerMonitor
from rota.store.embedded.wake_pipe import StopRequested, WakePipe

# Less than the 90 s after which systemd kills a service.
DRAIN_TIMEOUT_S = 60.0


class StartReport:
    """The one message to the process that started this one, which may have ended by then."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def report_ready(self, endpoint: Endpoint) -> None:
        self._send({"ready": asdict(endpoint)})

    def report_failure(self, problem: EmbeddedFailed) -> None:
        self._send({"failed": {"reason": problem.reason, "remedy": problem.remedy}})

    def _send(self, message: dict[str, Any]) -> None:
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                os.write(self._descriptor, json.dumps(message).encode())
            os.close(self._descriptor)
            self._descriptor = -1


def monitor_server(order: MonitorOptions, answer: StartReport) -> None:
    """Run the server for as long as it has users."""
    home = EmbeddedHome(path=Path(order.home))
    wake_pipe = WakePipe()
    handle_signals(wake_pipe)
    threading.Thread(target=wait_for_last_user, args=(home, wake_pipe), daemon=True).start()

    def announce(endpoint: Endpoint) -> None:
        publish_endpoint(home, endpoint)
        answer.report_ready(endpoint)

    try:
        ServerMonitor(
            home=home, options=order, tools=prepare_cluster(home, order), wake_pipe=wake_pipe
        ).run(announce)
    except StopRequested:
        log.write_line("no users left, stopping the server")
    finally:
        withdraw_endpoint(home)
        address.remove_socket_folder(home)


def handle_signals(wake_pipe: WakePipe) -> None:
    """Stop at the second SIGTERM, or some time after the first.

    A shutdown of a machine or a service signals all processes at once. The users drain first and
    need the server for that; they release it when they are done.
    """

    def on_terminate(*_: object) -> None:
        signal.signal(signal.SIGTERM, lambda *_: wake_pipe.wake())
        timer = threading.Timer(DRAIN_TIMEOUT_S, wake_pipe.wake)
        timer.daemon = True
        timer.start()

    signal.signal(signal.SIGTERM, on_terminate)


def wait_for_last_user(home: EmbeddedHome, wake_pipe: WakePipe) -> None:
    FileLock(home.users_lock).wait_exclusive()
    wake_pipe.wake()


def prepare_cluster(home: EmbeddedHome, order: MonitorOptions) -> ClusterTools:
    """Find the programs and make sure that there is a cluster."""
    cluster.remove_leftovers(home)
    account = choose_account(home.data)
    major = cluster.read_major(home.data)
    folders = [Path(folder) for folder in order.binaries]
    install = binaries.choose_install(folders, account=account, major=major)
    tools = ClusterTools(install=install, account=account, durable=order.durable)
    if major is None:
        cluster.create_cluster(home, tools)
    else:
        cluster.check_cluster(home, tools)
    return tools


def main() -> int:
    order = MonitorOptions.from_argument(sys.argv[1])
    # The process that started this one must not have to reap it: it may live longer.
    if os.fork():
        os._exit(0)
    answer = StartReport(order.report)
    try:
        monitor_server(order, answer)
    except EmbeddedFailed as error:
        problem = error
    except OSError as error:
        problem = diagnosis.diagnose_os_error(error, Path(order.home))
    else:
        return 0
    log.write_line(str(problem))
    answer.report_failure(problem)
    return 1


if __name__ == "__main__":
    sys.exit(main())
