"""`rota hooks`: manages webhook endpoints that receive signed events."""

from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from rota.cli import times
from rota.cli.asking import confirm, secret
from rota.cli.listing import SOME, Most, gather, said, tell_more
from rota.cli.options import TALK, YES, Talk, warn
from rota.cli.tables import Column
from rota.core.errors import NotFound

Style = Literal["standard", "github"]

app = App(name="hooks", help="Webhook endpoints: create, list, rotate, delete.")


@app.command(name="list")
def list_hooks(*, most: Most = SOME, talk: Talk = TALK) -> int:
    """List webhook endpoints, without their secrets."""
    with talk.open() as client:
        found = gather(client.list_hooks, most=most)
    now = times.now()
    columns: list[Column[Any]] = [
        Column("NAME", lambda hook: hook.name, flexible=True),
        Column("TYPE", lambda hook: hook.type, flexible=True),
        Column("STYLE", lambda hook: hook.style),
        Column("LAST USED", lambda hook: times.ago(hook.used_at, now)),
        Column("URL", lambda hook: hook.url),
    ]
    talk.rows(found.rows, columns, ids="hook_id", empty="No hooks")
    tell_more(found, talk)
    return 0


@app.command
def create(
    name: str,
    type_: Annotated[str, Parameter(name="type")],
    /,
    *,
    style: Style = "standard",
    own_secret: Annotated[bool, Parameter(negative=())] = False,
    talk: Talk = TALK,
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
    own = secret(f"secret of {name}: ") if own_secret else None
    with talk.open() as client:
        made = client.create_hook(name=name, type=type_, style=style, **said(secret=own))
    tell_secret(made, talk)
    return 0


def tell_secret(made: Any, talk: Talk) -> None:
    talk.done(made, made.secret, id_=made.secret)
    if talk.is_plain:
        warn([f"Hook {made.name}: {made.url}; store the secret safely, it is not shown again"])


@app.command
def rotate(
    hook: str,
    /,
    *,
    former_for: str | None = None,
    own_secret: Annotated[bool, Parameter(negative=())] = False,
    yes: Annotated[bool, YES] = False,
    talk: Talk = TALK,
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
    own = secret(f"secret of {hook}: ") if own_secret else None
    with talk.open() as client:
        id_ = hook_id(client, hook)
        if not confirm(f"Rotate the secret of hook {hook}?", yes=yes):
            return 1
        made = client.rotate_hook(id_, **said(secret=own, former_for=former_for))
    tell_secret(made, talk)
    return 0


@app.command
def delete(hook: str, /, *, yes: Annotated[bool, YES] = False, talk: Talk = TALK) -> int:
    """Delete a hook. Later requests to it are rejected.

    Parameters
    ----------
    hook
        Hook name or id.
    yes
        Skip the confirmation.
    """
    with talk.open() as client:
        id_ = hook_id(client, hook)
        if not confirm(f"Delete hook {hook}?", yes=yes):
            return 1
        client.delete_hook(id_)
    talk.done({"hook_id": id_}, f"Deleted hook {hook}", id_=id_)
    return 0


def hook_id(client: Any, text: str) -> str:
    """Return the id of a hook, given its id or name."""
    hooks = gather(client.list_hooks, most=Most(all_=True)).rows
    for each in hooks:
        if text in {each.hook_id, each.name}:
            return str(each.hook_id)
    raise NotFound("hook", text)
