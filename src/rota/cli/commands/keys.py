"""`rota keys`: manages the API keys of the tenant."""

import os
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App

from rota.cli import naming, times
from rota.cli.asking import confirm
from rota.cli.listing import SOME, Most, gather, said, tell_more
from rota.cli.options import TALK, YES, Talk, some, warn
from rota.cli.tables import Column
from rota.core.errors import InvalidInput
from rota.core.time import moments

Role = Literal["viewer", "operator", "admin"]

app = App(name="keys", help="API keys: list, create, revoke, renew.")
# Imported when it runs: it needs the database, the other commands do not.
app.command("rota.cli.commands.setup_link:renew_admin", name="renew-admin")


@app.command(name="list")
def list_keys(*, most: Most = SOME, talk: Talk = TALK) -> int:
    """List the keys of the tenant, oldest first, without their secrets."""
    with talk.open() as client:
        found = gather(client.list_keys, most=most)
    now = times.now()
    columns: list[Column[Any]] = [
        Column("NAME", lambda key: key.name, flexible=True),
        Column("ROLE", lambda key: key.role),
        Column("STATUS", lambda key: status(key, now)),
        Column("PREFIX", lambda key: key.handle),
        Column("USER", lambda key: key.user_id, flexible=True),
        Column("EXPIRES", lambda key: times.ago(key.expires_at, now)),
        Column("LAST USED", lambda key: times.ago(key.used_at, now)),
        Column("ID", lambda key: key.key_id),
    ]
    talk.rows(found.rows, columns, ids="key_id", empty="No keys")
    tell_more(found, talk)
    return 0


def status(key: Any, now: datetime) -> str:
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
    talk: Talk = TALK,
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
    refuse_old(to)
    with talk.open() as client:
        made = client.create_key(name=name, role=role, **said(lifetime=lifetime, user_id=user_id))
    tell_key(made, to=to, talk=talk)
    return 0


def refuse_old(file: Path | None) -> None:
    """Check the file before the key is created: a key that cannot be written would be lost."""
    if file is None:
        return
    if file.exists():
        raise InvalidInput("--to", str(file), "the file exists already")
    if not file.parent.is_dir():
        raise InvalidInput("--to", str(file), "its folder does not exist")


def tell_key(made: Any, *, to: Path | None, talk: Talk) -> None:
    if to is not None:
        write_privately(to, made.key)
        talk.done(
            {"key_id": made.key_id, "file": str(to)}, f"Wrote the key to {to}", id_=made.key_id
        )
        return
    talk.done(made, made.key, id_=made.key)
    if talk.is_plain:
        warn(
            [
                f"Created {made.key_id}, role {made.role}, expires {made.expires_at}",
                "Store the key safely; it is not shown again",
            ]
        )


def write_privately(file: Path, key: str) -> None:
    """Write the key to a file that is private from the moment it is created."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InvalidInput("--to", str(file), f"cannot create the file: {error.strerror}") from None
    with os.fdopen(descriptor, "w") as writing:
        writing.write(f"{key}\n")


@app.command
def revoke(*keys: str, yes: Annotated[bool, YES] = False, talk: Talk = TALK) -> int:
    """Revoke keys. They stop working within five seconds.

    Parameters
    ----------
    keys
        Key ids, names or prefixes, as shown by `rota keys list`.
    yes
        Skip the confirmation.
    """
    some("key", keys)
    with talk.open() as client:
        ids = [naming.key_id(client, key) for key in keys]
        if not confirm(f"Revoke {', '.join(keys)}?", yes=yes):
            return 1
        for id_ in ids:
            done = client.revoke_key(id_)
            talk.done(done, f"Revoked {done.name}", id_=done.key_id)
    return 0
