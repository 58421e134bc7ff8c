"""`rota users`: lists the users that jobs and keys name, and revokes their keys."""

from typing import Annotated, Any

from cyclopts import App

from rota.cli.api_options import DEFAULT_API_OPTIONS, YES_FLAG, ApiOptions
from rota.cli.pagination import DEFAULT_LIMIT, ListLimit, list_rows, print_more_hint
from rota.cli.prompts import confirm
from rota.cli.tables import TableColumn

app = App(name="users", help="Users: list, show, revoke keys.")


@app.command(name="list")
def list_users(
    *, row_limit: ListLimit = DEFAULT_LIMIT, api_options: ApiOptions = DEFAULT_API_OPTIONS
) -> int:
    """List the users of the tenant by name, with their numbers of jobs and valid keys."""
    with api_options.open_client() as client:
        found = list_rows(client.list_users, row_limit=row_limit)
    columns: list[TableColumn[Any]] = [
        TableColumn("USER", lambda each: each.user_id, flexible=True),
        TableColumn("JOBS", lambda each: each.jobs, right=True),
        TableColumn("KEYS", lambda each: each.keys, right=True),
    ]
    api_options.print_rows(
        found.rows, columns, ids="user_id", empty="No users: no job and no key names one"
    )
    print_more_hint(found, api_options)
    return 0


@app.command
def show(user: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Show a user.

    Parameters
    ----------
    user
        User id, as set on jobs and keys.
    """
    with api_options.open_client() as client:
        found = client.get_user(user)
    facts: list[tuple[str, object]] = [
        ("user", found.user_id),
        ("jobs", found.jobs),
        ("keys", found.keys),
    ]
    api_options.print_record(found, facts, ids="user_id")
    return 0


@app.command
def revoke_keys(
    user: str,
    /,
    *,
    yes: Annotated[bool, YES_FLAG] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Revoke all keys of a user. The jobs of the user stay.

    Parameters
    ----------
    user
        User id, as set on the keys.
    yes
        Skip the confirmation.
    """
    with api_options.open_client() as client:
        if not confirm(f"Revoke all keys of {user}?", yes=yes):
            return 1
        done = client.revoke_keys_of_user(user)
    number = len(done.key_ids)
    summary = f"Revoked {number} key{'' if number == 1 else 's'} of {user}"
    api_options.print_result(done, summary, id_="\n".join(done.key_ids))
    return 0
