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
    """Where it listens, and the first key if it was just made."""
    say(f"API at {opened.url}, its page at {opened.url}/docs")
    say(f"dashboard at {opened.url}/; `rota open` logs in")
    if opened.key_file is not None:
        say(f"the first API key (role platform) was made and is in {opened.key_file}:")
        say(f"  {opened.key_file.read_text().strip()}")
