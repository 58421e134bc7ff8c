"""`rota users`: lists the users that jobs and keys name, and revokes their keys."""

from typing import Annotated, Any

from cyclopts import App

from rota.cli.asking import confirm
from rota.cli.listing import SOME, Most, gather, tell_more
from rota.cli.options import TALK, YES, Talk
from rota.cli.tables import Column

app = App(name="users", help="Users: list, show, revoke keys.")


@app.command(name="list")
def list_users(*, most: Most = SOME, talk: Talk = TALK) -> int:
    """List the users of the tenant by name, with their numbers of jobs and valid keys."""
    with talk.open() as client:
        found = gather(client.list_users, most=most)
    columns: list[Column[Any]] = [
        Column("USER", lambda each: each.user_id, flexible=True),
        Column("JOBS", lambda each: each.jobs, right=True),
        Column("KEYS", lambda each: each.keys, right=True),
    ]
    talk.rows(found.rows, columns, ids="user_id", empty="No users: no job and no key names one")
    tell_more(found, talk)
    return 0


@app.command
def show(user: str, /, *, talk: Talk = TALK) -> int:
    """Show a user.

    Parameters
    ----------
    user
        User id, as set on jobs and keys.
    """
    with talk.open() as client:
        found = client.get_user(user)
    facts: list[tuple[str, object]] = [
        ("user", found.user_id),
        ("jobs", found.jobs),
        ("keys", found.keys),
    ]
    talk.thing(found, facts, ids="user_id")
    return 0


@app.command
def revoke_keys(user: str, /, *, yes: Annotated[bool, YES] = False, talk: Talk = TALK) -> int:
    """Revoke all keys of a user. The jobs of the user stay.

    Parameters
    ----------
    user
        User id, as set on the keys.
    yes
        Skip the confirmation.
    """
    with talk.open() as client:
        if not confirm(f"Revoke all keys of {user}?", yes=yes):
            return 1
        done = client.revoke_keys_of_user(user)
    number = len(done.key_ids)
    summary = f"Revoked {number} key{'' if number == 1 else 's'} of {user}"
    talk.done(done, summary, id_="\n".join(done.key_ids))
    return 0
