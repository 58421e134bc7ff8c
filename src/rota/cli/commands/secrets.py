"""`rota secrets`: writes, lists and deletes secrets. Values cannot be read back."""

from typing import Annotated, Any

from cyclopts import App

from rota.cli import times
from rota.cli.asking import confirm, secret
from rota.cli.listing import SOME, Most, gather, tell_more
from rota.cli.options import TALK, YES, Talk
from rota.cli.tables import Column

app = App(name="secrets", help="Secrets: put, list, delete. Values cannot be read back.")


@app.command(name="list")
def list_secrets(*, most: Most = SOME, talk: Talk = TALK) -> int:
    """List the names of the secrets."""
    with talk.open() as client:
        found = gather(client.list_secrets, most=most)
    now = times.now()
    columns: list[Column[Any]] = [
        Column("NAME", lambda each: each.name, flexible=True),
        Column("VERSION", lambda each: each.version, right=True),
        Column("UPDATED", lambda each: times.ago(each.updated_at, now)),
    ]
    talk.rows(found.rows, columns, ids="name", empty="No secrets")
    tell_more(found, talk)
    return 0


@app.command
def put(name: str, /, *, talk: Talk = TALK) -> int:
    """Create or update a secret. The value is read from standard input or a prompt.

    Parameters
    ----------
    name
        Secret name.
    """
    value = secret(f"value of {name}: ")
    with talk.open() as client:
        done = client.put_secret(name, value=value)
    talk.done(done, f"Saved secret {done.name}, version {done.version}", id_=done.name)
    return 0


@app.command
def delete(name: str, /, *, yes: Annotated[bool, YES] = False, talk: Talk = TALK) -> int:
    """Delete a secret.

    Parameters
    ----------
    name
        Secret name.
    yes
        Skip the confirmation.
    """
    with talk.open() as client:
        if not confirm(f"Delete secret {name}?", yes=yes):
            return 1
        client.delete_secret(name)
    talk.done({"name": name}, f"Deleted secret {name}", id_=name)
    return 0
