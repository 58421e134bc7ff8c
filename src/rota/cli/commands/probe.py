"""`rota probe`: asks a process on this machine whether it is alive, ready or started.

For probes that run a command. It imports neither the app nor the HTTP client of the API, and needs
no key.
"""

import http.client
import json
from contextlib import closing
from pathlib import Path
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from cyclopts import Parameter

from rota.cli.errors import UsageError
from rota.cli.output import FAILED, UNREACHABLE, print_message
from rota.cli.settings import load_settings
from rota.config.observe import parse_listen
from rota.config.settings import Settings
from rota.core.errors import InvalidInput
from rota.runtime.address_file import OBSERVE_FILE, read_address

PATHS: Final = {"live": "/livez", "ready": "/readyz", "startup": "/startupz"}
PROBE_TIMEOUT_S: Final = 2.0
ANSWER_BYTES_MAX: Final = 65_536
LOCAL_ADDRESSES: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 — not bound


def probe(
    check: Literal["live", "ready", "startup"],
    /,
    *,
    address: str | None = None,
    role: Annotated[Literal["api", "scheduler", "worker", "up"] | None, Parameter()] = None,
    data: Path | None = None,
    config: Path | None = None,
) -> int:
    """Ask a process on this machine whether it is alive, ready or started; exit code 0 means yes.

    Parameters
    ----------
    check
        live: its event loop turns. ready: it can work now. startup: its start is complete.
    address
        Address of the observability listener, such as 127.0.0.1:7071. Default: `observe.listen` if
        it is a fixed address, else the address that the process wrote to the data folder.
    role
        Role of the process, if several processes use the same data folder.
    data
        Data folder of the process. Default: .rota in the current folder.
    config
        Settings file. Default: rota.toml in the current folder, then /etc/rota/rota.toml.
    """
    if address is not None:
        host, port = parse_address(address)
    else:
        host, port = find_listener(load_settings(data=data, config=config), role)
    try:
        status, detail = ask(host, port, PATHS[check])
    except (OSError, http.client.HTTPException) as error:
        print_message(f"no answer from {host}:{port}: {error}")
        return UNREACHABLE
    if status == http.client.OK:
        return 0
    print_message(detail)
    return FAILED


def parse_address(address: str) -> tuple[str, int]:
    found = parse_listen(address.removeprefix("http://").rstrip("/"))
    if found is None:
        raise InvalidInput("--address", address, "expected a host and port such as 127.0.0.1:7071")
    return found


def find_listener(settings: Settings, role: str | None) -> tuple[str, int]:
    """Return the address of the process's listener, from the settings or the data folder."""
    fixed = parse_listen(settings.observe.listen)
    if fixed is not None:
        host, port = fixed
        return LOCAL_ADDRESSES.get(host, host), port
    folder = settings.database.data
    files = sorted(folder.glob(OBSERVE_FILE.format(role=role or "*")))
    running = [found for file in files if (found := read_address(file)) and found.is_running]
    if not running:
        raise UsageError(
            f"no running process has written its address to {folder}; give --address, or set "
            "observe.listen to a fixed address"
        )
    if len(running) > 1:
        names = ", ".join(found.file.stem.removeprefix("observe-") for found in running)
        raise UsageError(f"several processes use {folder} ({names}); choose one with --role")
    # A listener on a free port is on loopback, whatever name the process advertises.
    return "127.0.0.1", urlsplit(running[0].url).port or 0


def ask(host: str, port: int, path: str) -> tuple[int, str]:
    """Return the status and the explanation of a probe."""
    with closing(http.client.HTTPConnection(host, port, timeout=PROBE_TIMEOUT_S)) as connection:
        connection.request("GET", path)
        response = connection.getresponse()
        body = json.loads(response.read(ANSWER_BYTES_MAX))
        return response.status, str(body.get("detail", body.get("status", "")))
