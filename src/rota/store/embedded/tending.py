"""Keeps a server running: starts it, watches it and restarts it.

The first start fails at once with the reason, because a caller is waiting. A server that was up and
died is restarted with growing pauses, because its users are waiting too, and a disk that is full
now may have space in a minute. server.py knows how to start a server.
"""

import time
from collections.abc import Callable

from rota.core.errors import EmbeddedFailed
from rota.store.embedded import address, cluster, diagnosis, log, machine, server, settings
from rota.store.embedded.address import Address
from rota.store.embedded.bell import Bell, NobodyLeft
from rota.store.embedded.cluster import Tools
from rota.store.embedded.endpoint import Endpoint, hide, show_again, withdraw
from rota.store.embedded.home import Home
from rota.store.embedded.order import Order
from rota.store.embedded.server import Server

HOUSEKEEPING = 30.0
WITHOUT_PIDFD = 0.2
LOOK = 0.005
# A server that died after running at least this long is restarted at once; otherwise pauses grow.
STEADY = 5.0
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 2.0
GIVE_UP = 300.0
FIRST_TRIES = 4
LEAST_BUFFERS = "16MB"


class Tending:
    def __init__(self, *, home: Home, order: Order, tools: Tools, bell: Bell) -> None:
        self.home = home
        self.order = order
        self.tools = tools
        self.bell = bell
        self.ready_at = 0.0
        self.pause = 0.0

    def run(self, announce: Callable[[Endpoint], None]) -> None:
        """Run until the bell rings, or until the server cannot be restarted."""
        running = self.adopted() or self.first()
        try:
            announce(self.endpoint(running))
            while True:
                self.attend(running)
                hide(self.home)
                # Keep the dead process until then, so that its id cannot be reused.
                dead, running = running, self.again(running.address)
                dead.process.release()
                show_again(self.home)
        finally:
            withdraw(self.home)
            running.stop()

    def endpoint(self, running: Server) -> Endpoint:
        return Endpoint(
            port=running.address.port,
            socket_folder=running.address.seen_from_outside(self.home.data),
            version=self.tools.install.version,
            durable=self.tools.durable,
        )

    def adopted(self) -> Server | None:
        """Take over the server that an earlier monitor left running, if possible."""
        found = server.adopt(self.home, self.tools)
        if found is None:
            return None
        if self.home.password.exists() and self.becomes_ready(found):
            log.say(f"took over the running server, process {found.process.pid}")
            return found
        found.stop()
        return None

    def first(self) -> Server:
        """Start the server. Fails at once on permanent errors; retries with other settings."""
        if not self.home.password.exists():
            with server.claimed(self.home, self.tools):
                cluster.renew_password(self.home, self.tools)
        if cluster.has_old_login(self.home, self.tools):
            log.say("the login of this cluster is a superuser; replacing it with an ordinary role")
            with server.claimed(self.home, self.tools):
                cluster.replace_login(self.home, self.tools)
        wishes = dict(self.order.settings)
        output = ""
        for _ in range(FIRST_TRIES):
            self.configure(wishes)
            chosen = address.choose(self.home, self.tools.account, port=self.order.port)
            started, output = self.launch(chosen)
            if started is not None:
                return started
            if diagnosis.is_short_of_memory(output):
                wishes["shared_buffers"] = LEAST_BUFFERS
            elif self.order.port is not None or not diagnosis.is_port_taken(output):
                break
        raise diagnosis.of_output(output, doing="starting the server", home=self.home.path)

    def configure(self, wishes: dict[str, str]) -> None:
        granted = [pair for pair in settings.OPTIONAL if server.takes(self.home, self.tools, *pair)]
        rows = settings.tuning(machine.look(self.home.path), granted=granted)
        server.configure(self.home, self.tools, settings.configuration(rows, wishes))

    def launch(self, place: Address) -> tuple[Server | None, str]:
        """Start the server and wait until it is ready; on failure, return its output."""
        since = log.size(self.home.log)
        starting = server.launch(self.home, self.tools, place)
        if self.becomes_ready(starting):
            return starting, ""
        starting.process.release()
        return None, log.since(self.home.log, since)

    def becomes_ready(self, starting: Server) -> bool:
        """Wait for as long as the server lives: recovery after a crash may take a while."""
        try:
            while not starting.is_ready():
                if starting.has_ended():
                    return False
                self.bell.rest(LOOK)
        except NobodyLeft:
            starting.stop()
            raise
        self.ready_at = time.monotonic()
        return True

    def attend(self, running: Server) -> None:
        """Wait until the server ends."""
        pidfd = running.process.pidfd
        while not running.has_ended():
            if pidfd is None:
                self.bell.rest(WITHOUT_PIDFD)
            else:
                self.bell.rest(HOUSEKEEPING, pidfd)
            log.trim(self.home.log)

    def again(self, place: Address) -> Server:
        """Restart the server after it died while in use; give up after five minutes."""
        lost = time.monotonic()
        self.pause = 0.0 if lost - self.ready_at >= STEADY else self.longer_pause()
        log.say(f"the server died; restarting it in {self.pause:.1f} s")
        while True:
            self.bell.rest(self.pause)
            outcome = self.retry(place)
            if isinstance(outcome, Server):
                return outcome
            log.say(str(outcome))
            if time.monotonic() - lost > GIVE_UP or not self.home.data.exists():
                raise outcome
            self.pause = self.longer_pause()

    def longer_pause(self) -> float:
        return min(LONGEST_PAUSE, max(FIRST_PAUSE, 2 * self.pause))

    def retry(self, place: Address) -> Server | EmbeddedFailed:
        try:
            started, output = self.launch(place.without_taken_port())
        except OSError as error:
            return diagnosis.of_os_error(error, self.home.path)
        except EmbeddedFailed as problem:
            return problem
        if started is not None:
            return started
        return diagnosis.of_output(output, doing="restarting the server", home=self.home.path)
