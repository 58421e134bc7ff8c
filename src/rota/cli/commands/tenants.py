"""`rota tenants`: for whoever runs the installation. Room: cli."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

from rota.cli import naming, times
from rota.cli.asking import confirm
from rota.cli.commands.keys import refuse_old, tell_key
from rota.cli.errors import Misused
from rota.cli.listing import SOME, Most, gather, said, tell_more
from rota.cli.options import TALK, YES, Talk
from rota.cli.tables import Column

Role = Literal["viewer", "operator", "admin", "platform"]
COUNT: Final = Parameter(validator=Number(gte=1))
NO_LIMIT: Final = "none"
Quota = int | Literal["none"] | None

app = App(name="tenants", help="Tenants: make, change, pause, give keys to.")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What a tenant may have.

    Parameters
    ----------
    weight
        Its share of busy workers, next to the others.
    max_jobs
        Jobs that are not finished or deleted, or none for no limit. Default: 1,000,000.
    max_queued
        Runs that wait, or none for no limit. Default: 5,000,000.
    max_running
        Runs at a time. Default: no limit.
    runs_per_s
        Runs that start in a second. Default: no limit.
    min_period
        The shortest time between two ticks of a job, as in 1m. Default: no limit.
    max_queues
        New queue names that its submissions make, or none for no limit. Default: 10,000.
    max_kinds
        New kind names that its submissions make, or none for no limit. Default: 100,000.
    max_limit_keys
        Keys of limits, or none for no limit. Default: 1,000,000.
    max_hooks
        Hooks, or none for no limit. Default: 1,000.
    max_calendars
        Calendars, or none for no limit. Default: 100.
    max_secrets
        Secrets, or none for no limit. Default: 200.
    max_keys
        Valid API keys, or none for no limit. Default: 100.
    """

    weight: Annotated[int | None, COUNT] = None
    max_jobs: Quota = None
    max_queued: Quota = None
    max_running: Annotated[int | None, COUNT] = None
    runs_per_s: Annotated[int | None, COUNT] = None
    min_period: str | None = None
    max_queues: Quota = None
    max_kinds: Quota = None
    max_limit_keys: Quota = None
    max_hooks: Quota = None
    max_calendars: Quota = None
    max_secrets: Quota = None
    max_keys: Quota = None

    def quotas(self) -> dict[str, Any]:
        given = said(
            max_jobs=self.max_jobs,
            max_queued=self.max_queued,
            max_running=self.max_running,
            runs_per_s=self.runs_per_s,
            min_period=self.min_period,
            max_queues=self.max_queues,
            max_kinds=self.max_kinds,
            max_limit_keys=self.max_limit_keys,
            max_hooks=self.max_hooks,
            max_calendars=self.max_calendars,
            max_secrets=self.max_secrets,
            max_keys=self.max_keys,
        )
        return {name: None if value == NO_LIMIT else value for name, value in given.items()}


EQUAL: Final = Share()


@app.command(name="list")
def list_tenants(*, most: Most = SOME, talk: Talk = TALK) -> int:
    """List the tenants, the oldest first."""
    with talk.open() as client:
        found = gather(client.list_tenants, most=most)
    now = times.now()
    columns: list[Column[Any]] = [
        Column("ID", lambda each: each.tenant_id, right=True),
        Column("NAME", lambda each: each.name, flexible=True),
        Column("STATUS", lambda each: "paused" if each.is_paused else "active", mood=True),
        Column("WEIGHT", lambda each: each.weight, right=True),
        Column("QUOTAS", quotas_told, flexible=True),
        Column("MADE", lambda each: times.ago(each.created_at, now)),
    ]
    talk.rows(found.rows, columns, ids="tenant_id", empty="there are no tenants")
    tell_more(found, talk)
    return 0


def quotas_told(tenant: Any) -> str:
    return " ".join(
        f"{name}={NO_LIMIT if value is None else value}" for name, value in tenant.quotas.items()
    )


@app.command
def show(tenant: str, /, *, talk: Talk = TALK) -> int:
    """Show one tenant.

    Parameters
    ----------
    tenant
        Its name or its number.
    """
    with talk.open() as client:
        found = client.get_tenant(str(naming.tenant(client, tenant).tenant_id))
    told: list[tuple[str, object]] = [
        ("name", found.name),
        ("id", found.tenant_id),
        ("status", f"paused since {found.paused_at}" if found.is_paused else "active"),
        ("weight", found.weight),
        ("quotas", quotas_told(found)),
        ("made", found.created_at),
    ]
    talk.thing(found, told, ids="tenant_id")
    return 0


@app.command
def create(name: str, /, *, share: Share = EQUAL, talk: Talk = TALK) -> int:
    """Make a tenant.

    Parameters
    ----------
    name
        Unique among the tenants.
    """
    with talk.open() as client:
        fields = said(weight=share.weight, quotas=share.quotas())
        made = client.create_tenant(name=name, **fields)
    talk.done(made, f"the tenant {made.name} has the id {made.tenant_id}", id_=made.tenant_id)
    return 0


@app.command
def edit(
    tenant: str,
    /,
    *,
    share: Share = EQUAL,
    no_quotas: Annotated[bool, Parameter(name="--no-quotas", negative=())] = False,
    talk: Talk = TALK,
) -> int:
    """Change the weight or the quotas of a tenant.

    All quotas are set anew if one is given: the others have their defaults again.

    Parameters
    ----------
    tenant
        Its name or its number.
    no_quotas
        Give all quotas their defaults again.
    """
    fields = said(weight=share.weight, quotas=share.quotas())
    if no_quotas:
        if "quotas" in fields:
            raise Misused("--no-quotas resets all quotas: give no other quota beside it")
        fields["quotas"] = {}
    if not fields:
        raise Misused("say something to change, such as --weight")
    with talk.open() as client:
        id_ = str(naming.tenant(client, tenant).tenant_id)
        done = client.update_tenant(id_, **fields)
    talk.done(done, f"the tenant {done.name} was changed", id_=done.tenant_id)
    return 0


@app.command
def delete(tenant: str, /, *, yes: Annotated[bool, YES] = False, talk: Talk = TALK) -> int:
    """Delete a tenant that has no jobs.

    Parameters
    ----------
    tenant
        Its name or its number.
    yes
        Do not ask.
    """
    with talk.open() as client:
        found = naming.tenant(client, tenant)
        if not confirm(f"Delete the tenant {found.name}?", yes=yes):
            return 1
        client.delete_tenant(str(found.tenant_id))
    talk.done(found, f"the tenant {found.name} was deleted", id_=found.tenant_id)
    return 0


@app.command
def pause(tenant: str, /, *, talk: Talk = TALK) -> int:
    """Start no run of a tenant any more; what runs goes on.

    Parameters
    ----------
    tenant
        Its name or its number.
    """
    with talk.open() as client:
        done = client.pause_tenant(str(naming.tenant(client, tenant).tenant_id))
    talk.done(done, f"the tenant {done.name} is paused", id_=done.tenant_id)
    return 0


@app.command
def resume(tenant: str, /, *, talk: Talk = TALK) -> int:
    """Start runs of a tenant again.

    Parameters
    ----------
    tenant
        Its name or its number.
    """
    with talk.open() as client:
        done = client.resume_tenant(str(naming.tenant(client, tenant).tenant_id))
    talk.done(done, f"the tenant {done.name} goes on", id_=done.tenant_id)
    return 0


@app.command
def key(
    tenant: str,
    name: str,
    /,
    *,
    role: Role = "admin",
    lifetime: str | None = None,
    to: Path | None = None,
    talk: Talk = TALK,
) -> int:
    """Make a key for a tenant; this is the only time that it is shown.

    Parameters
    ----------
    tenant
        Its name or its number.
    name
        What the key is for.
    role
        What it may do.
    lifetime
        How long it is valid, as in 30d (default: 90 days, a year at most).
    to
        Write the key into this new file, for its owner only, instead of showing it.
    """
    refuse_old(to)
    with talk.open() as client:
        id_ = str(naming.tenant(client, tenant).tenant_id)
        made = client.create_tenant_key(id_, name=name, role=role, **said(lifetime=lifetime))
    tell_key(made, to=to, talk=talk)
    return 0
