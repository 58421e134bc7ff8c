"""`rota users`: whose jobs there are, and on whose behalf keys act. Room: cli."""

from typing import Annotated, Any

from cyclopts import App

from rota.cli.asking import confirm
from rota.cli.listing import SOME, Most, gather, tell_more
from rota.cli.options import TALK, YES, Talk
from rota.cli.tables import Column

app = App(name="users", help="Users: list, show, revoke all keys of one who leaves.")


@app.command(name="list")
def list_users(*, most: Most = SOME, talk: Talk = TALK) -> int:
    """List the users of the tenant, by name: how many jobs and valid keys each has."""
    with talk.open() as client:
        found = gather(client.list_users, most=most)
    columns: list[Column[Any]] = [
        Column("USER", lambda each: each.user_id, flexible=True),
        Column("JOBS", lambda each: each.jobs, right=True),
        Column("KEYS", lambda each: each.keys, right=True),
    ]
    talk.rows(found.rows, columns, ids="user_id", empty="no job and no key names a user")
    tell_more(found, talk)
    return 0


@app.command
def show(user: str, /, *, talk: Talk = TALK) -> int:
    """Show one user.

    Parameters
    ----------
    user
        The name that jobs and keys carry.
    """
    with talk.open() as client:
        found = client.get_user(user)
    told: list[tuple[str, object]] = [
        ("user", found.user_id),
        ("jobs", found.jobs),
        ("keys", found.keys),
    ]
    talk.thing(found, told, ids="user_id")
    return 0


@app.command
def revoke_keys(user: str, /, *, yes: Annotated[bool, YES] = False, talk: Talk = TALK) -> int:
    """Revoke all keys of a user; the jobs stay.

    Parameters
    ----------
    user
        The name that the keys carry.
    yes
        Do not ask.
    """
    with talk.open() as client:
        if not confirm(f"Revoke all keys of {user}?", yes=yes):
            return 1
        done = client.revoke_keys_of_user(user)
    number = len(done.key_ids)
    told = f"{number} key{'' if number == 1 else 's'} of {user} revoked"
    talk.done(done, told, id_="\n".join(done.key_ids))
    return 0
