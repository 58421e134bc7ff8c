"""Opens the SSH connection to an SFTP place, through `asyncssh` (extra `sync`).

The server must present one of the host keys from the settings. Files of the worker's user (known
hosts, configuration, agent, keys) are ignored.
"""

from importlib import import_module
from typing import Any

from rota.executors.sync.places import SyncPlace
from rota.executors.sync.thread_pool import SyncThreadPool
from rota.executors.sync.tree import SyncBroken

CONNECT_TIMEOUT_S = 10.0
LOGIN_TIMEOUT_S = 20.0
KEEP_ALIVE_INTERVAL_S = 15.0


async def connect_place(place: SyncPlace, threads: SyncThreadPool) -> Any:
    try:
        # Importing it would block the event loop for too long.
        asyncssh = await threads.run(import_module, "asyncssh")
    except ImportError:
        message = f"the place {place.name} needs rota[sync] on this worker: asyncssh is missing"
        raise SyncBroken("extra missing", message, final=True) from None

    try:
        return await asyncssh.connect(
            place.host,
            place.port,
            username=place.user,
            client_factory=build_client_class(place),
            known_hosts=([], [], []),
            config=None,
            agent_path=None,
            connect_timeout=CONNECT_TIMEOUT_S,
            login_timeout=LOGIN_TIMEOUT_S,
            keepalive_interval=KEEP_ALIVE_INTERVAL_S,
            **await threads.run(read_credentials, place),
        )
    except asyncssh.HostKeyNotVerifiable:
        message = f"the server of the place {place.name} presents a key that is not in host_keys"
        raise SyncBroken("wrong host key", message, final=True) from None
    except asyncssh.PermissionDenied:
        message = f"the place {place.name} does not accept the worker's credentials"
        raise SyncBroken("not permitted", message, final=True) from None
    except (asyncssh.Error, OSError) as error:
        message = f"{place.name} cannot be reached: {place.clean_message(error)}"
        raise SyncBroken("place not reached", message) from None


def read_credentials(place: SyncPlace) -> dict[str, Any]:
    """Return the place's private key, or else its password."""
    import asyncssh  # noqa: PLC0415 - an extra

    if place.key_file is None:
        return {"client_keys": None, "password": place.secret}
    try:
        key = asyncssh.read_private_key(place.key_file, place.secret)
    except (OSError, ValueError, asyncssh.Error):
        message = f"key_file of the place {place.name} is not a readable private key"
        raise SyncBroken("place not usable", message, final=True) from None
    return {"client_keys": [key], "password": None}


def build_client_class(place: SyncPlace) -> Any:
    import asyncssh  # noqa: PLC0415 - an extra

    class Doorkeeper(asyncssh.SSHClient):
        """Accepts only a server that presents one of the configured host keys."""

        def validate_host_public_key(
            self, host: str, addr: str, port: int, key: asyncssh.SSHKey
        ) -> bool:
            del host, addr, port
            return key.get_fingerprint("sha256") in place.host_keys

    return Doorkeeper
