"""`rota keys`: manages the API keys of the tenant."""

import os
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App

from rota.cli import name_resolution, times
from rota.cli.api_options import (
    DEFAULT_API_OPTIONS,
    YES_FLAG,
    ApiOptions,
    print_warnings,
    require_arguments,
)
from rota.cli.pagination import DEFAULT_LIMIT, ListLimit, drop_empty, list_rows, print_more_hint
from rota.cli.prompts import confirm
from rota.cli.tables import TableColumn
from rota.core.errors import InvalidInput
from rota.core.time import moments

Role = Literal["viewer", "operator", "admin"]

app = App(name="keys", help="API keys: list, create, revoke, renew.")
# Imported when it runs: it needs the database, the other commands do not.
app.command("rota.cli.commands.setup_link:renew_admin", name="renew-admin")


@app.command(name="list")
def list_keys(
    *, row_limit: ListLimit = DEFAULT_LIMIT, api_options: ApiOptions = DEFAULT_API_OPTIONS
) -> int:
    """List the keys of the tenant, oldest first, without their secrets."""
    with api_options.open_client() as client:
        found = list_rows(client.list_keys, row_limit=row_limit)
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("NAME", lambda key: key.name, flexible=True),
        TableColumn("ROLE", lambda key: key.role),
        TableColumn("STATUS", lambda key: describe_status(key, now)),
        TableColumn("PREFIX", lambda key: key.handle),
        TableColumn("USER", lambda key: key.user_id, flexible=True),
        TableColumn("EXPIRES", lambda key: times.format_relative(key.expires_at, now)),
        TableColumn("LAST USED", lambda key: times.format_relative(key.used_at, now)),
        TableColumn("ID", lambda key: key.key_id),
    ]
    api_options.print_rows(found.rows, columns, ids="key_id", empty="No keys")
    print_more_hint(found, api_options)
    return 0


def describe_status(key: Any, now: datetime) -> str:
    if key.revoked_at is not None:
        return "revoked"
    if key.expires_at is not None and moments.parse(key.expires_at) <= now:
        return "expired"
    return "valid"


@app.command
def create(
    name: str,
    /,
    *,
    role: Role = "operator",
    lifetime: str | None = None,
    user_id: str | None = None,
    to: Path | None = None,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Create a key and print it. The key is shown only once.

    With --quiet only the key is printed.

    Parameters
    ----------
    name
        Name of the key, such as its purpose.
    role
        Role of the key. Default: operator.
    lifetime
        Lifetime, such as 30d; at most one year. Default: 90d.
    user_id
        User that the audit log names instead of the key. Default: none.
    to
        Write the key to this new private file instead of printing it.
    """
    check_key_file(to)
    with api_options.open_client() as client:
        made = client.create_key(
            name=name, role=role, **drop_empty(lifetime=lifetime, user_id=user_id)
        )
    print_key(made, to=to, api_options=api_options)
    return 0


def check_key_file(file: Path | None) -> None:
    """Check the file before the key is created: a key that cannot be written would be lost."""
    if file is None:
        return
    if file.exists():
        raise InvalidInput("--to", str(file), "the file exists already")
    if not file.parent.is_dir():
        raise InvalidInput("--to", str(file), "its folder does not exist")


def print_key(api_key: Any, *, to: Path | None, api_options: ApiOptions) -> None:
    if to is not None:
        write_private_file(to, api_key.key)
        api_options.print_result(
            {"key_id": api_key.key_id, "file": str(to)},
            f"Wrote the key to {to}",
            id_=api_key.key_id,
        )
        return
    api_options.print_result(api_key, api_key.key, id_=api_key.key)
    if api_options.is_plain:
        print_warnings(
            [
                f"Created {api_key.key_id}, role {api_key.role}, expires {api_key.expires_at}",
                "Store the key safely; it is not shown again",
            ]
        )


def write_private_file(file: Path, key: str) -> None:
    """Write the key to a file that is private from the moment it is created."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InvalidInput("--to", str(file), f"cannot create the file: {error.strerror}") from None
    with os.fdopen(descriptor, "w") as writing:
        writing.write(f"{key}\n")


@app.command
def revoke(
    *keys: str,
    yes: Annotated[bool, YES_FLAG] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Revoke keys. They stop working within five seconds.

    Parameters
    ----------
    keys
        Key ids, names or prefixes, as shown by `rota keys list`.
    yes
        Skip the confirmation.
    """
    require_arguments("key", keys)
    with api_options.open_client() as client:
        ids = [name_resolution.resolve_key_id(client, key) for key in keys]
        if not confirm(f"Revoke {', '.join(keys)}?", yes=yes):
            return 1
        for id_ in ids:
            done = client.revoke_key(id_)
            api_options.print_result(done, f"Revoked {done.name}", id_=done.key_id)
    return 0
