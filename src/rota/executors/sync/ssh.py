"""Opens the SSH connection to an SFTP place, through `asyncssh` (extra `sync`).

The server must present one of the host keys from the settings. Files of the worker's user (known
hosts, configuration, agent, keys) are ignored.
"""

from importlib import import_module
from typing import Any

from rota.executors.sync.places import Place
from rota.executors.sync.threads import Threads
from rota.executors.sync.tree import Broken

CONNECTING = 10.0
LOGIN = 20.0
KEEP_ALIVE = 15.0


async def connect(place: Place, threads: Threads) -> Any:
    try:
        # Importing it would block the event loop for too long.
        asyncssh = await threads.run(import_module, "asyncssh")
    except ImportError:
        message = f"the place {place.name} needs rota[sync] on this worker: asyncssh is missing"
        raise Broken("extra missing", message, final=True) from None

    try:
        return await asyncssh.connect(
            place.host,
            place.port,
            username=place.user,
            client_factory=doorkeeper(place),
            known_hosts=([], [], []),
            config=None,
            agent_path=None,
            connect_timeout=CONNECTING,
            login_timeout=LOGIN,
            keepalive_interval=KEEP_ALIVE,
            **await threads.run(credentials, place),
        )
    except asyncssh.HostKeyNotVerifiable:
        message = f"the server of the place {place.name} presents a key that is not in host_keys"
        raise Broken("wrong host key", message, final=True) from None
    except asyncssh.PermissionDenied:
        message = f"the place {place.name} does not accept the worker's credentials"
        raise Broken("not permitted", message, final=True) from None
    except (asyncssh.Error, OSError) as error:
        message = f"{place.name} cannot be reached: {place.clean(error)}"
        raise Broken("place not reached", message) from None


def credentials(place: Place) -> dict[str, Any]:
    """Return the place's private key, or else its password."""
    import asyncssh  # noqa: PLC0415 - an extra

    if place.key_file is None:
        return {"client_keys": None, "password": place.secret}
    try:
        key = asyncssh.read_private_key(place.key_file, place.secret)
    except (OSError, ValueError, asyncssh.Error):
        message = f"key_file of the place {place.name} is not a readable private key"
        raise Broken("place not usable", message, final=True) from None
    return {"client_keys": [key], "password": None}


def doorkeeper(place: Place) -> Any:
    import asyncssh  # noqa: PLC0415 - an extra

    class Doorkeeper(asyncssh.SSHClient):
        """Accepts only a server that presents one of the configured host keys."""

        def validate_host_public_key(
            self, host: str, addr: str, port: int, key: asyncssh.SSHKey
        ) -> bool:
            del host, addr, port
            return key.get_fingerprint("sha256") in place.host_keys

    return Doorkeeper
