"""`rota api`: serves the HTTP API until it is stopped."""

import asyncio
from pathlib import Path

from rota.cli.output import print_message, write_log
from rota.cli.settings import load_settings
from rota.processes.api import OpenApi, run_api


def api(
    *,
    host: str | None = None,
    port: int | None = None,
    data: Path | None = None,
    config: Path | None = None,
) -> int:
    """Serve the HTTP API. Any number of API processes can share one database.

    Parameters
    ----------
    host
        Address to listen on. Any address except loopback requires TLS or `api.insecure_http`.
        Default: 127.0.0.1.
    port
        Port to listen on. Default: 7070.
    data
        Folder of the embedded database, used without ROTA_DATABASE_URL. Default: .rota in the
        current folder.
    config
        Settings file. Default: rota.toml in the current folder, then /etc/rota/rota.toml.
    """
    flags = {"api": {"host": host, "port": port}}
    settings = load_settings(data=data, config=config, flags=flags)
    return asyncio.run(run_api(settings, ready=announce, write=write_log))


def announce(opened: OpenApi) -> None:
    """Print the addresses, and the path of a new bootstrap admin key. The key itself is never
    printed, because logs keep it.
    """
    print_message(f"API at {opened.url}, reference at {opened.url}/docs")
    print_message(f"dashboard at {opened.url}/; log in with `rota open`")
    if opened.observe_url is not None:
        print_message(f"probes and metrics at {opened.observe_url}/readyz and /metrics")
    if opened.key_file is not None:
        print_message(f"bootstrap admin key (valid for 90 days) in {opened.key_file}")
