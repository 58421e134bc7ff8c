"""`rota hooks`: manages webhook endpoints that receive signed events."""

from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from rota.cli import times
from rota.cli.api_options import DEFAULT_API_OPTIONS, YES_FLAG, ApiOptions, print_warnings
from rota.cli.pagination import DEFAULT_LIMIT, ListLimit, drop_empty, list_rows, print_more_hint
from rota.cli.prompts import confirm, read_secret
from rota.cli.tables import TableColumn
from rota.core.errors import NotFound

Style = Literal["standard", "github"]

app = App(name="hooks", help="Hooks for signed events: create, list, rotate, delete.")


@app.command(name="list")
def list_hooks(
    *, row_limit: ListLimit = DEFAULT_LIMIT, api_options: ApiOptions = DEFAULT_API_OPTIONS
) -> int:
    """List webhook endpoints, without their secrets."""
    with api_options.open_client() as client:
        found = list_rows(client.list_hooks, row_limit=row_limit)
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("NAME", lambda hook: hook.name, flexible=True),
        TableColumn("TYPE", lambda hook: hook.type, flexible=True),
        TableColumn("STYLE", lambda hook: hook.style),
        TableColumn("LAST USED", lambda hook: times.format_relative(hook.used_at, now)),
        TableColumn("URL", lambda hook: hook.url),
    ]
    api_options.print_rows(found.rows, columns, ids="hook_id", empty="No hooks")
    print_more_hint(found, api_options)
    return 0


@app.command
def create(
    name: str,
    type_: Annotated[str, Parameter(name="type")],
    /,
    *,
    style: Style = "standard",
    own_secret: Annotated[bool, Parameter(negative=())] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Create a hook and print its secret, which is shown only once.

    With --quiet only the secret is printed.

    Parameters
    ----------
    name
        Hook name. The source of its events is hooks/NAME.
    type_
        Type of the events that the hook creates.
    style
        Signature of requests: standard (Standard Webhooks) or github (X-Hub-Signature-256).
        Default: standard.
    own_secret
        Use the sender's secret, read from standard input or a prompt. Default: a new secret.
    """
    own = read_secret(f"secret of {name}: ") if own_secret else None
    with api_options.open_client() as client:
        made = client.create_hook(name=name, type=type_, style=style, **drop_empty(secret=own))
    print_secret(made, api_options)
    return 0


def print_secret(hook: Any, api_options: ApiOptions) -> None:
    api_options.print_result(hook, hook.secret, id_=hook.secret)
    if api_options.is_plain:
        print_warnings(
            [f"Hook {hook.name}: {hook.url}; store the secret safely, it is not shown again"]
        )


@app.command
def rotate(
    hook: str,
    /,
    *,
    former_for: str | None = None,
    own_secret: Annotated[bool, Parameter(negative=())] = False,
    yes: Annotated[bool, YES_FLAG] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Replace the secret of a hook and print the new one, which is shown only once.

    Parameters
    ----------
    hook
        Hook name or id.
    former_for
        How long the previous secret stays valid, such as 1h. Default: 1d.
    own_secret
        Use the sender's secret, read from standard input or a prompt. Default: a new secret.
    yes
        Skip the confirmation.
    """
    own = read_secret(f"secret of {hook}: ") if own_secret else None
    with api_options.open_client() as client:
        id_ = resolve_hook_id(client, hook)
        if not confirm(f"Rotate the secret of hook {hook}?", yes=yes):
            return 1
        made = client.rotate_hook(id_, **drop_empty(secret=own, former_for=former_for))
    print_secret(made, api_options)
    return 0


@app.command
def delete(
    hook: str,
    /,
    *,
    yes: Annotated[bool, YES_FLAG] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Delete a hook. Later requests to it are rejected.

    Parameters
    ----------
    hook
        Hook name or id.
    yes
        Skip the confirmation.
    """
    with api_options.open_client() as client:
        id_ = resolve_hook_id(client, hook)
        if not confirm(f"Delete hook {hook}?", yes=yes):
            return 1
        client.delete_hook(id_)
    api_options.print_result({"hook_id": id_}, f"Deleted hook {hook}", id_=id_)
    return 0


def resolve_hook_id(client: Any, text: str) -> str:
    """Return the id of a hook, given its id or name."""
    hooks = list_rows(client.list_hooks, row_limit=ListLimit(all_=True)).rows
    for each in hooks:
        if text in {each.hook_id, each.name}:
            return str(each.hook_id)
    raise NotFound("hook", text)
