"""Keeps a server running: starts it, watches it, starts it again. Room: store/embedded.

The first start fails at once and says why, because somebody is waiting. A server that was up and
dies is started again with growing pauses, because its users are waiting too, and a disk that is
full now may have room in a minute. Does not know how a server is started (server.py).
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
# A server that stayed up this long and then died is started again at once; else pauses grow.
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
        """Go on until the bell rings, or until the server is beyond us."""
        running = self.adopted() or self.first()
        try:
            announce(self.endpoint(running))
            while True:
                self.attend(running)
                hide(self.home)
                # The dead one is held until then: its number must not pass to a stranger.
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
        """Go on with the server that an earlier keeper left, if that is possible."""
        found = server.adopt(self.home, self.tools)
        if found is None:
            return None
        if self.home.password.exists() and self.becomes_ready(found):
            log.say(f"went on with the server that was running, process {found.process.pid}")
            return found
        found.stop()
        return None

    def first(self) -> Server:
        """Start the server; what cannot work fails at once, what can is tried another way."""
        if not self.home.password.exists():
            with server.claimed(self.home, self.tools):
                cluster.renew_password(self.home, self.tools)
        if cluster.has_old_login(self.home, self.tools):
            log.say("the login of this cluster is a superuser; replacing it")
            with server.claimed(self.home, self.tools):
                cluster.replace_login(self.home, self.tools)
        wishes = dict(self.order.settings)
        said = ""
        for _ in range(FIRST_TRIES):
            self.configure(wishes)
            place = address.choose(self.home, self.tools.account, port=self.order.port)
            started, said = self.launch(place)
            if started is not None:
                return started
            if diagnosis.is_short_of_memory(said):
                wishes["shared_buffers"] = LEAST_BUFFERS
            elif self.order.port is not None or not diagnosis.is_port_taken(said):
                break
        raise diagnosis.of_output(said, doing="starting the server", home=self.home.path)

    def configure(self, wishes: dict[str, str]) -> None:
        granted = [pair for pair in settings.OPTIONAL if server.takes(self.home, self.tools, *pair)]
        rows = settings.tuning(machine.look(self.home.path), granted=granted)
        server.configure(self.home, self.tools, settings.configuration(rows, wishes))

    def launch(self, place: Address) -> tuple[Server | None, str]:
        """Start the server and wait until it is ready; without one, return what it said."""
        since = log.size(self.home.log)
        starting = server.launch(self.home, self.tools, place)
        if self.becomes_ready(starting):
            return starting, ""
        starting.process.release()
        return None, log.since(self.home.log, since)

    def becomes_ready(self, starting: Server) -> bool:
        """Wait for as long as it lives: recovery after a crash may take its time."""
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
        """Start the server after it died under its users; give up when it is beyond us."""
        lost = time.monotonic()
        self.pause = 0.0 if lost - self.ready_at >= STEADY else self.longer_pause()
        log.say(f"the server died, starting it again in {self.pause:.1f} s")
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
            started, said = self.launch(place.without_taken_port())
        except OSError as error:
            return diagnosis.of_os_error(error, self.home.path)
        except EmbeddedFailed as problem:
            return problem
        if started is not None:
            return started
        return diagnosis.of_output(said, doing="starting the server again", home=self.home.path)
