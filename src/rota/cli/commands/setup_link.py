"""`rota setup-link`, `rota keys renew-admin`: for who has the server's machine. Room: cli."""

import asyncio
import os
from pathlib import Path

from rota.cli.output import say
from rota.cli.settings import settings_for
from rota.config.settings import Api
from rota.node.admin_keys import make_setup_link, renew_admin_key


def setup_link(
    *, url: str | None = None, data: Path | None = None, config: Path | None = None
) -> int:
    """Print a link that logs in at the dashboard as a platform admin, once and within 15 minutes.

    Run it on the server's machine: it needs the database, and no API key. Create a key with a name
    there, and the bootstrap admin key can be revoked.

    Parameters
    ----------
    url
        Address of the API that the link begins with. Default: ROTA_URL, else the address in the
        settings.
    data
        Folder of the embedded database. Default: .rota in the current folder.
    config
        Settings file. Default: rota.toml here, then /etc/rota/rota.toml.
    """
    settings = settings_for(data=data, config=config)
    made = asyncio.run(make_setup_link(settings))
    address = url or os.environ.get("ROTA_URL") or address_of(settings.api)
    say(f"{address.rstrip('/')}{made.path}")
    say(f"this link works once, until {made.expires_at:%H:%M} UTC")
    return 0


def renew_admin(*, data: Path | None = None, config: Path | None = None) -> int:
    """Make a new bootstrap admin key and revoke the one before.

    Run it on the server's machine: it needs the database, and no API key. The new key is valid for
    90 days and goes into admin.key in the data folder, for its owner only.

    Parameters
    ----------
    data
        Folder of the embedded database. Default: .rota in the current folder.
    config
        Settings file. Default: rota.toml here, then /etc/rota/rota.toml.
    """
    file = asyncio.run(renew_admin_key(settings_for(data=data, config=config)))
    say(f"the new bootstrap admin key (valid for 90 days) is in {file}; the one before is revoked")
    return 0


def address_of(api: Api) -> str:
    """Return where people on this machine find the API, by its settings."""
    scheme = "http" if api.tls_certificate is None else "https"
    host = f"[{api.host}]" if ":" in api.host else api.host
    return f"{scheme}://{host}:{api.port}"
