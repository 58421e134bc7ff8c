"""`rota hooks`: where others hand in events by signing them. Room: cli."""

from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from rota.cli import times
from rota.cli.asking import confirm, secret
from rota.cli.listing import SOME, Most, gather, said, tell_more
from rota.cli.options import TALK, YES, Talk, warn
from rota.cli.tables import Column
from rota.core.errors import NotFound

Style = Literal["standard", "github"]

app = App(name="hooks", help="Hooks for signed events: make, list, rotate, delete.")


@app.command(name="list")
def list_hooks(*, most: Most = SOME, talk: Talk = TALK) -> int:
    """List the hooks, without their secrets."""
    with talk.open() as client:
        found = gather(client.list_hooks, most=most)
    now = times.now()
    columns: list[Column[Any]] = [
        Column("NAME", lambda hook: hook.name, flexible=True),
        Column("TYPE", lambda hook: hook.type, flexible=True),
        Column("SIGNED", lambda hook: hook.style),
        Column("USED", lambda hook: times.ago(hook.used_at, now)),
        Column("URL", lambda hook: hook.url),
    ]
    talk.rows(found.rows, columns, ids="hook_id", empty="there are no hooks")
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
    """Make a hook; this is the only time that its secret is shown.

    With --quiet the secret itself is printed, and nothing else.

    Parameters
    ----------
    name
        What it is for; its events come from hooks/ and this name.
    type_
        The type of the events that come of it.
    style
        How requests are signed: Standard Webhooks, or X-Hub-Signature-256 as GitHub does.
    own_secret
        Use a secret that the sender has made, from standard input or a prompt.
    """
    given = secret(f"secret of {name}: ") if own_secret else None
    with talk.open() as client:
        made = client.create_hook(name=name, type=type_, style=style, **said(secret=given))
    tell_secret(made, talk)
    return 0


def tell_secret(made: Any, talk: Talk) -> None:
    talk.done(made, made.secret, id_=made.secret)
    if talk.is_plain:
        warn([f"the hook {made.name} is at {made.url}; keep the secret safe"])


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
    """Give a hook another secret, which is shown this once.

    Parameters
    ----------
    hook
        Its name or its id.
    former_for
        How long the secret before is good as well, as in 1h (default: a day).
    own_secret
        Use a secret that the sender has made, from standard input or a prompt.
    yes
        Do not ask.
    """
    given = secret(f"secret of {hook}: ") if own_secret else None
    with talk.open() as client:
        id_ = hook_id(client, hook)
        if not confirm(f"Give the hook {hook} another secret?", yes=yes):
            return 1
        made = client.rotate_hook(id_, **said(secret=given, former_for=former_for))
    tell_secret(made, talk)
    return 0


@app.command
def delete(hook: str, /, *, yes: Annotated[bool, YES] = False, talk: Talk = TALK) -> int:
    """Delete a hook: from then on nothing is taken there.

    Parameters
    ----------
    hook
        Its name or its id.
    yes
        Do not ask.
    """
    with talk.open() as client:
        id_ = hook_id(client, hook)
        if not confirm(f"Delete the hook {hook}?", yes=yes):
            return 1
        client.delete_hook(id_)
    talk.done({"hook_id": id_}, f"the hook {hook} was deleted", id_=id_)
    return 0


def hook_id(client: Any, text: str) -> str:
    """The id of a hook, by its id or its name."""
    hooks = gather(client.list_hooks, most=Most(all_=True)).rows
    for each in hooks:
        if text in {each.hook_id, each.name}:
            return str(each.hook_id)
    raise NotFound("hook", text)
