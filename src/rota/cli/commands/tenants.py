"""`rota tenants`: manages tenants, for operators of the installation."""

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

app = App(name="tenants", help="Tenants: create, edit, pause, create keys.")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Weight and quotas of a tenant.

    Parameters
    ----------
    weight
        Share of busy workers, relative to other tenants. Default: 1.
    max_jobs
        Maximum number of unfinished jobs, or none. Default: 1,000,000.
    max_queued
        Maximum number of waiting runs, or none. Default: 5,000,000.
    max_running
        Maximum number of concurrent runs. Default: no limit.
    runs_per_s
        Maximum number of runs that start per second. Default: no limit.
    min_period
        Minimum time between two ticks of a job, such as 1m. Default: no limit.
    max_queues
        Maximum number of queues that submissions create, or none. Default: 10,000.
    max_kinds
        Maximum number of kinds that submissions create, or none. Default: 100,000.
    max_limit_keys
        Maximum number of limit keys, or none. Default: 1,000,000.
    max_hooks
        Maximum number of hooks, or none. Default: 1,000.
    max_calendars
        Maximum number of calendars, or none. Default: 100.
    max_secrets
        Maximum number of secrets, or none. Default: 200.
    max_keys
        Maximum number of valid API keys, or none. Default: 100.
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
    """List the tenants, oldest first."""
    with talk.open() as client:
        found = gather(client.list_tenants, most=most)
    now = times.now()
    columns: list[Column[Any]] = [
        Column("ID", lambda each: each.tenant_id, right=True),
        Column("NAME", lambda each: each.name, flexible=True),
        Column("STATUS", lambda each: "paused" if each.is_paused else "active", mood=True),
        Column("WEIGHT", lambda each: each.weight, right=True),
        Column("QUOTAS", quotas_told, flexible=True),
        Column("CREATED", lambda each: times.ago(each.created_at, now)),
    ]
    talk.rows(found.rows, columns, ids="tenant_id", empty="No tenants")
    tell_more(found, talk)
    return 0


def quotas_told(tenant: Any) -> str:
    return " ".join(
        f"{name}={NO_LIMIT if value is None else value}" for name, value in tenant.quotas.items()
    )


@app.command
def show(tenant: str, /, *, talk: Talk = TALK) -> int:
    """Show a tenant.

    Parameters
    ----------
    tenant
        Tenant name or number.
    """
    with talk.open() as client:
        found = client.get_tenant(str(naming.tenant(client, tenant).tenant_id))
    facts: list[tuple[str, object]] = [
        ("name", found.name),
        ("id", found.tenant_id),
        ("status", f"paused since {found.paused_at}" if found.is_paused else "active"),
        ("weight", found.weight),
        ("quotas", quotas_told(found)),
        ("created", found.created_at),
    ]
    talk.thing(found, facts, ids="tenant_id")
    return 0


@app.command
def create(name: str, /, *, share: Share = EQUAL, talk: Talk = TALK) -> int:
    """Create a tenant.

    Parameters
    ----------
    name
        Unique name.
    """
    with talk.open() as client:
        fields = said(weight=share.weight, quotas=share.quotas())
        made = client.create_tenant(name=name, **fields)
    talk.done(made, f"Created tenant {made.name} (id {made.tenant_id})", id_=made.tenant_id)
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
    """Edit the weight or the quotas of a tenant.

    Quotas are replaced as a whole: those that are not given return to their defaults.

    Parameters
    ----------
    tenant
        Tenant name or number.
    no_quotas
        Reset all quotas to their defaults.
    """
    fields = said(weight=share.weight, quotas=share.quotas())
    if no_quotas:
        if "quotas" in fields:
            raise Misused("--no-quotas resets all quotas; do not combine it with a quota option")
        fields["quotas"] = {}
    if not fields:
        raise Misused("nothing to change: give at least one option, such as --weight")
    with talk.open() as client:
        id_ = str(naming.tenant(client, tenant).tenant_id)
        done = client.update_tenant(id_, **fields)
    talk.done(done, f"Updated tenant {done.name}", id_=done.tenant_id)
    return 0


@app.command
def delete(tenant: str, /, *, yes: Annotated[bool, YES] = False, talk: Talk = TALK) -> int:
    """Delete a tenant. Fails if it has jobs.

    Parameters
    ----------
    tenant
        Tenant name or number.
    yes
        Skip the confirmation.
    """
    with talk.open() as client:
        found = naming.tenant(client, tenant)
        if not confirm(f"Delete tenant {found.name}?", yes=yes):
            return 1
        client.delete_tenant(str(found.tenant_id))
    talk.done(found, f"Deleted tenant {found.name}", id_=found.tenant_id)
    return 0


@app.command
def pause(tenant: str, /, *, talk: Talk = TALK) -> int:
    """Pause a tenant: start no new runs. Current runs continue.

    Parameters
    ----------
    tenant
        Tenant name or number.
    """
    with talk.open() as client:
        done = client.pause_tenant(str(naming.tenant(client, tenant).tenant_id))
    talk.done(done, f"Paused tenant {done.name}", id_=done.tenant_id)
    return 0


@app.command
def resume(tenant: str, /, *, talk: Talk = TALK) -> int:
    """Resume a paused tenant.

    Parameters
    ----------
    tenant
        Tenant name or number.
    """
    with talk.open() as client:
        done = client.resume_tenant(str(naming.tenant(client, tenant).tenant_id))
    talk.done(done, f"Resumed tenant {done.name}", id_=done.tenant_id)
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
    """Create a key for a tenant and print it. The key is shown only once.

    Parameters
    ----------
    tenant
        Tenant name or number.
    name
        Name of the key, such as its purpose.
    role
        Role of the key. Default: admin.
    lifetime
        Lifetime, such as 30d; at most one year. Default: 90d.
    to
        Write the key to this new private file instead of printing it.
    """
    refuse_old(to)
    with talk.open() as client:
        id_ = str(naming.tenant(client, tenant).tenant_id)
        made = client.create_tenant_key(id_, name=name, role=role, **said(lifetime=lifetime))
    tell_key(made, to=to, talk=talk)
    return 0
