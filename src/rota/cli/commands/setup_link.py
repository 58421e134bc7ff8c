"""`rota setup-link` and `rota keys renew-admin`: admin access from the server's machine."""

import asyncio
import os
from pathlib import Path

from rota.cli.output import print_message
from rota.cli.settings import load_settings
from rota.config.settings import ApiSettings
from rota.processes.admin_keys import create_setup_link, renew_admin_key


def setup_link(
    *, url: str | None = None, data: Path | None = None, config: Path | None = None
) -> int:
    """Print a one-time link that logs in to the dashboard as platform admin, valid for 15 minutes.

    Run it on the server's machine: it needs the database but no API key. Create a named key in the
    dashboard, then revoke the bootstrap admin key.

    Parameters
    ----------
    url
        Address of the API in the link. Default: ROTA_URL, then the address in the settings.
    data
        Folder of the embedded database. Default: .rota in the current folder.
    config
        Settings file. Default: rota.toml in the current folder, then /etc/rota/rota.toml.
    """
    settings = load_settings(data=data, config=config)
    link = asyncio.run(create_setup_link(settings))
    address = url or os.environ.get("ROTA_URL") or build_api_url(settings.api)
    print_message(f"{address.rstrip('/')}{link.path}")
    print_message(f"The link works once, until {link.expires_at:%H:%M} UTC")
    return 0


def renew_admin(*, data: Path | None = None, config: Path | None = None) -> int:
    """Create a new bootstrap admin key and revoke the previous one.

    Run it on the server's machine: it needs the database but no API key. The new key is valid for
    90 days and is written to admin.key in the data folder, a private file.

    Parameters
    ----------
    data
        Folder of the embedded database. Default: .rota in the current folder.
    config
        Settings file. Default: rota.toml in the current folder, then /etc/rota/rota.toml.
    """
    file = asyncio.run(renew_admin_key(load_settings(data=data, config=config)))
    print_message(
        f"Wrote a new bootstrap admin key (valid for 90 days) to {file}; revoked the previous one"
    )
    return 0


def build_api_url(api: ApiSettings) -> str:
    """Return the address of the API on this machine, from its settings."""
    scheme = "http" if api.tls_certificate is None else "https"
    host = f"[{api.host}]" if ":" in api.host else api.host
    return f"{scheme}://{host}:{api.port}"
