"""`rota keys`: API keys of the own tenant. Room: cli."""

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

app = App(name="keys", help="API keys: list, make, revoke, renew.")
# Not imported before it is called: it needs the database, and the others do not.
app.command("rota.cli.commands.setup_link:renew_admin", name="renew-admin")


@app.command(name="list")
def list_keys(*, most: Most = SOME, talk: Talk = TALK) -> int:
    """List the keys of the tenant, the oldest first, without their secrets."""
    with talk.open() as client:
        found = gather(client.list_keys, most=most)
    now = times.now()
    columns: list[Column[Any]] = [
        Column("NAME", lambda key: key.name, flexible=True),
        Column("ROLE", lambda key: key.role),
        Column("STATUS", lambda key: status(key, now)),
        Column("BEGINS", lambda key: key.handle),
        Column("USER", lambda key: key.user_id, flexible=True),
        Column("EXPIRES", lambda key: times.ago(key.expires_at, now)),
        Column("USED", lambda key: times.ago(key.used_at, now)),
        Column("ID", lambda key: key.key_id),
    ]
    talk.rows(found.rows, columns, ids="key_id", empty="there are no keys")
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
    """Make a key; this is the only time that it is shown.

    With --quiet the key itself is printed, and nothing else.

    Parameters
    ----------
    name
        What it is for.
    role
        What it may do.
    lifetime
        How long it is valid, as in 30d (default: 90 days, a year at most).
    user_id
        Who is named in the audit log instead of the key.
    to
        Write the key into this new file, for its owner only, instead of showing it.
    """
    refuse_old(to)
    with talk.open() as client:
        made = client.create_key(name=name, role=role, **said(lifetime=lifetime, user_id=user_id))
    tell_key(made, to=to, talk=talk)
    return 0


def refuse_old(file: Path | None) -> None:
    """Before the key is made: one that could not be written down would be lost."""
    if file is None:
        return
    if file.exists():
        raise InvalidInput("--to", str(file), "a file that is not there yet")
    if not file.parent.is_dir():
        raise InvalidInput("--to", str(file), "a file in a folder that exists")


def tell_key(made: Any, *, to: Path | None, talk: Talk) -> None:
    if to is not None:
        write_privately(to, made.key)
        talk.done({"key_id": made.key_id, "file": str(to)}, f"the key is in {to}", id_=made.key_id)
        return
    talk.done(made, made.key, id_=made.key)
    if talk.is_plain:
        warn([f"this is {made.key_id}, role {made.role}, until {made.expires_at}; keep it safe"])


def write_privately(file: Path, key: str) -> None:
    """Never for a moment where others can read it."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InvalidInput("--to", str(file), f"a new file: {error.strerror}") from None
    with os.fdopen(descriptor, "w") as writing:
        writing.write(f"{key}\n")


@app.command
def revoke(*keys: str, yes: Annotated[bool, YES] = False, talk: Talk = TALK) -> int:
    """Revoke keys: within five seconds nobody can use them any more.

    Parameters
    ----------
    keys
        Their ids, names or beginnings as listed.
    yes
        Do not ask.
    """
    some("key", keys)
    with talk.open() as client:
        ids = [naming.key_id(client, key) for key in keys]
        if not confirm(f"Revoke {', '.join(keys)}?", yes=yes):
            return 1
        for id_ in ids:
            done = client.revoke_key(id_)
            talk.done(done, f"{done.name} is revoked", id_=done.key_id)
    return 0
