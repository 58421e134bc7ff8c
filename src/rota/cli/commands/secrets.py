"""`rota secrets`: writes, lists and deletes secrets. Values cannot be read back."""

from typing import Annotated, Any

from cyclopts import App

from rota.cli import times
from rota.cli.api_options import DEFAULT_API_OPTIONS, YES_FLAG, ApiOptions
from rota.cli.pagination import DEFAULT_LIMIT, ListLimit, list_rows, print_more_hint
from rota.cli.prompts import confirm, read_secret
from rota.cli.tables import TableColumn

app = App(name="secrets", help="Secrets: put, list, delete. Values cannot be read back.")


@app.command(name="list")
def list_secrets(
    *, row_limit: ListLimit = DEFAULT_LIMIT, api_options: ApiOptions = DEFAULT_API_OPTIONS
) -> int:
    """List the names of the secrets."""
    with api_options.open_client() as client:
        found = list_rows(client.list_secrets, row_limit=row_limit)
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("NAME", lambda each: each.name, flexible=True),
        TableColumn("VERSION", lambda each: each.version, right=True),
        TableColumn("UPDATED", lambda each: times.format_relative(each.updated_at, now)),
    ]
    api_options.print_rows(found.rows, columns, ids="name", empty="No secrets")
    print_more_hint(found, api_options)
    return 0


@app.command
def put(name: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Create or update a secret. The value is read from standard input or a prompt.

    Parameters
    ----------
    name
        Secret name.
    """
    value = read_secret(f"value of {name}: ")
    with api_options.open_client() as client:
        done = client.put_secret(name, value=value)
    api_options.print_result(
        done, f"Saved secret {done.name}, version {done.version}", id_=done.name
    )
    return 0


@app.command
def delete(
    name: str,
    /,
    *,
    yes: Annotated[bool, YES_FLAG] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Delete a secret.

    Parameters
    ----------
    name
        Secret name.
    yes
        Skip the confirmation.
    """
    with api_options.open_client() as client:
        if not confirm(f"Delete secret {name}?", yes=yes):
            return 1
        client.delete_secret(name)
    api_options.print_result({"name": name}, f"Deleted secret {name}", id_=name)
    return 0
