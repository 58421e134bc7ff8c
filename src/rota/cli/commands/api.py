"""`rota api`: serve the HTTP API, until told to stop. Room: cli."""

import asyncio
from pathlib import Path

from rota.cli.output import say, write_log
from rota.cli.settings import settings_for
from rota.node.api import Open, run_api


def api(
    *,
    host: str | None = None,
    port: int | None = None,
    data: Path | None = None,
    config: Path | None = None,
) -> int:
    """Serve the HTTP API. Any number of these may run on one database.

    Parameters
    ----------
    host
        Address to listen on (default: 127.0.0.1). Others need TLS, or `api.insecure_http`.
    port
        Port to listen on (default: 7070).
    data
        Folder of the embedded database, unless ROTA_DATABASE_URL names a server.
    config
        Settings file (default: rota.toml here, then /etc/rota/rota.toml).
    """
    flags = {"api": {"host": host, "port": port}}
    settings = settings_for(data=data, config=config, flags=flags)
    return asyncio.run(run_api(settings, ready=announce, write=write_log))


def announce(opened: Open) -> None:
    """Where it listens, and where the bootstrap admin key is if it was just made: never the key,
    because logs keep what is printed.
    """
    say(f"API at {opened.url}, its page at {opened.url}/docs")
    say(f"dashboard at {opened.url}/; `rota open` logs in")
    if opened.health_url is not None:
        say(f"health probes at {opened.health_url}/livez and {opened.health_url}/readyz")
    if opened.key_file is not None:
        say(f"the bootstrap admin key (valid for 90 days) is in {opened.key_file}")
