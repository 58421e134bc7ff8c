"""Keeps a server running: starts it, watches it and restarts it.

The first start fails at once with the reason, because a caller is waiting. A server that was up and
died is restarted with growing pauses, because its users are waiting too, and a disk that is full
now may have space in a minute. server.py knows how to start a server.
"""

import time
from collections.abc import Callable

from rota.core.errors import EmbeddedFailed
from rota.store.embedded import address, cluster, diagnosis, log, machine, server, settings
from rota.store.embedded.address import ListenAddress
from rota.store.embedded.cluster import ClusterTools
from rota.store.embedded.endpoint import (
    Endpoint,
    hide_endpoint,
    restore_endpoint,
    withdraw_endpoint,
)
from rota.store.embedded.home import EmbeddedHome
from rota.store.embedded.monitor_options import MonitorOptions
from rota.store.embedded.server import PostgresServer
from rota.store.embedded.wake_pipe import StopRequested, WakePipe

LOG_TRIM_INTERVAL_S = 30.0
POLL_WITHOUT_PIDFD_S = 0.2
READY_POLL_S = 0.005
# A server that died after running at least this long is restarted at once; otherwise pauses grow.
STEADY_AFTER_S = 5.0
RESTART_PAUSE_MIN_S = 0.1
RESTART_PAUSE_MAX_S = 2.0
RESTART_GIVE_UP_S = 300.0
FIRST_START_TRIES_MAX = 4
SHARED_BUFFERS_MIN = "16MB"


class ServerMonitor:
    def __init__(
        self,
        *,
        home: EmbeddedHome,
        options: MonitorOptions,
        tools: ClusterTools,
        wake_pipe: WakePipe,
    ) -> None:
        self.home = home
        self.options = options
        self.tools = tools
        self.wake_pipe = wake_pipe
        self.ready_at = 0.0
        self.pause = 0.0

    def run(self, announce: Callable[[Endpoint], None]) -> None:
        """Run until a wake-up, or until the server cannot be restarted."""
        running = self.adopt_running() or self.start_first()
        try:
            announce(self.endpoint(running))
            while True:
                self.wait_until_ended(running)
                hide_endpoint(self.home)
                # Keep the dead process until then, so that its id cannot be reused.
                dead, running = running, self.restart(running.address)
                dead.process.release()
                restore_endpoint(self.home)
        finally:
            withdraw_endpoint(self.home)
            running.stop()

    def endpoint(self, running: PostgresServer) -> Endpoint:
        return Endpoint(
            port=running.address.port,
            socket_folder=running.address.absolute_socket_folder(self.home.data),
            version=self.tools.install.version,
            durable=self.tools.durable,
        )

    def adopt_running(self) -> PostgresServer | None:
        """Take over the server that an earlier monitor left running, if possible."""
        found = server.adopt_server(self.home, self.tools)
        if found is None:
            return None
        if self.home.password.exists() and self.becomes_ready(found):
            log.write_line(f"took over the running server, process {found.process.pid}")
            return found
        found.stop()
        return None

    def start_first(self) -> PostgresServer:
        """Start the server. Fails at once on permanent errors; retries with other settings."""
        if not self.home.password.exists():
            with server.claim_cluster(self.home, self.tools):
                cluster.renew_password(self.home, self.tools)
        if cluster.has_old_login(self.home, self.tools):
            log.write_line(
                "the login of this cluster is a superuser; replacing it with an ordinary role"
            )
            with server.claim_cluster(self.home, self.tools):
                cluster.replace_login(self.home, self.tools)
        wishes = dict(self.options.settings)
        output = ""
        for _ in range(FIRST_START_TRIES_MAX):
            self.configure(wishes)
            chosen = address.choose_address(self.home, self.tools.account, port=self.options.port)
            started, output = self.launch(chosen)
            if started is not None:
                return started
            if diagnosis.is_short_of_memory(output):
                wishes["shared_buffers"] = SHARED_BUFFERS_MIN
            elif self.options.port is not None or not diagnosis.is_port_taken(output):
                break
        raise diagnosis.diagnose_output(output, doing="starting the server", home=self.home.path)

    def configure(self, wishes: dict[str, str]) -> None:
        granted = [
            pair
            for pair in settings.OPTIONAL_SETTINGS
            if server.accepts_setting(self.home, self.tools, *pair)
        ]
        rows = settings.tune_server(machine.measure_machine(self.home.path), supported=granted)
        server.write_configuration(
            self.home, self.tools, settings.render_configuration(rows, wishes)
        )

    def launch(self, place: ListenAddress) -> tuple[PostgresServer | None, str]:
        """Start the server and wait until it is ready; on failure, return its output."""
        since = log.log_size(self.home.log)
        starting = server.launch_server(self.home, self.tools, place)
        if self.becomes_ready(starting):
            return starting, ""
        starting.process.release()
        return None, log.read_since(self.home.log, since)

    def becomes_ready(self, starting: PostgresServer) -> bool:
        """Wait for as long as the server lives: recovery after a crash may take a while."""
        try:
            while not starting.is_ready():
                if starting.has_ended():
                    return False
                self.wake_pipe.wait(READY_POLL_S)
        except StopRequested:
            starting.stop()
            raise
        self.ready_at = time.monotonic()
        return True

    def wait_until_ended(self, running: PostgresServer) -> None:
        """Wait until the server ends."""
        pidfd = running.process.pidfd
        while not running.has_ended():
            if pidfd is None:
                self.wake_pipe.wait(POLL_WITHOUT_PIDFD_S)
            else:
                self.wake_pipe.wait(LOG_TRIM_INTERVAL_S, pidfd)
            log.trim_log(self.home.log)

    def restart(self, place: ListenAddress) -> PostgresServer:
        """Restart the server after it died while in use; give up after five minutes."""
        lost = time.monotonic()
        self.pause = 0.0 if lost - self.ready_at >= STEADY_AFTER_S else self.longer_pause()
        log.write_line(f"the server died; restarting it in {self.pause:.1f} s")
        while True:
            self.wake_pipe.wait(self.pause)
            outcome = self.try_restart(place)
            if isinstance(outcome, PostgresServer):
                return outcome
            log.write_line(str(outcome))
            if time.monotonic() - lost > RESTART_GIVE_UP_S or not self.home.data.exists():
                raise outcome
            self.pause = self.longer_pause()

    def longer_pause(self) -> float:
        return min(RESTART_PAUSE_MAX_S, max(RESTART_PAUSE_MIN_S, 2 * self.pause))

    def try_restart(self, place: ListenAddress) -> PostgresServer | EmbeddedFailed:
        try:
            started, output = self.launch(place.without_used_port())
        except OSError as error:
            return diagnosis.diagnose_os_error(error, self.home.path)
        except EmbeddedFailed as problem:
            return problem
        if started is not None:
            return started
        return diagnosis.diagnose_output(output, doing="restarting the server", home=self.home.path)
