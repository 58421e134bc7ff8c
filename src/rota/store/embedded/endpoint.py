"""Publishes where the server listens, for other processes.

endpoint.json exists only while the server answers and its monitor lives. It does not contain the
password, which has its own file.
"""

import contextlib
import json
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import quote, urlencode

from rota.store.embedded.home import EmbeddedHome, write_privately
from rota.store.embedded.owner import DATABASE, ROLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    port: int
    socket_folder: str
    version: str
    durable: bool

    def url(self, password: str) -> str:
        """Return the URL of the Unix socket, the fastest connection."""
        where = urlencode({"host": self.socket_folder, "port": self.port}, quote_via=quote)
        return f"postgresql://{ROLE}:{quote(password)}@/{DATABASE}?{where}"

    def tcp_url(self, password: str) -> str:
        """Return the TCP URL, for programs without support for Unix sockets."""
        return (
            f"postgresql://{ROLE}:{quote(password)}@127.0.0.1:{self.port}/{DATABASE}"
            "?sslmode=disable"
        )

    def is_open(self) -> bool:
        """Return whether a server listens there at this moment."""
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(f"{self.socket_folder}/.s.PGSQL.{self.port}")
            except OSError:
                return False
            return True


def publish_endpoint(home: EmbeddedHome, endpoint: Endpoint) -> None:
    write_privately(home.endpoint, json.dumps(asdict(endpoint)))


def withdraw_endpoint(home: EmbeddedHome) -> None:
    home.endpoint.unlink(missing_ok=True)
    hidden_path(home).unlink(missing_ok=True)


def hide_endpoint(home: EmbeddedHome) -> None:
    """Make new users wait while the server is down."""
    with contextlib.suppress(FileNotFoundError):
        home.endpoint.replace(hidden_path(home))


def restore_endpoint(home: EmbeddedHome) -> None:
    """Publish the same address again. Works on a full disk too."""
    with contextlib.suppress(FileNotFoundError):
        hidden_path(home).replace(home.endpoint)


def hidden_path(home: EmbeddedHome) -> Path:
    return home.endpoint.with_suffix(".down")


def read_endpoint(home: EmbeddedHome) -> Endpoint | None:
    try:
        return Endpoint(**json.loads(home.endpoint.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
