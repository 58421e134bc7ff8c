"""`rota tenants`: manages tenants, for operators of the installation."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

from rota.cli import name_resolution, times
from rota.cli.api_options import DEFAULT_API_OPTIONS, YES_FLAG, ApiOptions
from rota.cli.commands.keys import check_key_file, print_key
from rota.cli.errors import UsageError
from rota.cli.pagination import DEFAULT_LIMIT, ListLimit, drop_empty, list_rows, print_more_hint
from rota.cli.prompts import confirm
from rota.cli.tables import TableColumn

Role = Literal["viewer", "operator", "admin", "platform"]
POSITIVE: Final = Parameter(validator=Number(gte=1))
NO_LIMIT: Final = "none"
Quota = int | Literal["none"] | None

app = App(name="tenants", help="Tenants: create, edit, pause, create keys.")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class TenantOptions:
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

    weight: Annotated[int | None, POSITIVE] = None
    max_jobs: Quota = None
    max_queued: Quota = None
    max_running: Annotated[int | None, POSITIVE] = None
    runs_per_s: Annotated[int | None, POSITIVE] = None
    min_period: str | None = None
    max_queues: Quota = None
    max_kinds: Quota = None
    max_limit_keys: Quota = None
    max_hooks: Quota = None
    max_calendars: Quota = None
    max_secrets: Quota = None
    max_keys: Quota = None

    def build_quotas(self) -> dict[str, Any]:
        given = drop_empty(
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


DEFAULT_TENANT_OPTIONS: Final = TenantOptions()


@app.command(name="list")
def list_tenants(
    *, row_limit: ListLimit = DEFAULT_LIMIT, api_options: ApiOptions = DEFAULT_API_OPTIONS
) -> int:
    """List the tenants, oldest first."""
    with api_options.open_client() as client:
        found = list_rows(client.list_tenants, row_limit=row_limit)
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("ID", lambda each: each.tenant_id, right=True),
        TableColumn("NAME", lambda each: each.name, flexible=True),
        TableColumn("STATUS", lambda each: "paused" if each.is_paused else "active", mood=True),
        TableColumn("WEIGHT", lambda each: each.weight, right=True),
        TableColumn("QUOTAS", format_quotas, flexible=True),
        TableColumn("CREATED", lambda each: times.format_relative(each.created_at, now)),
    ]
    api_options.print_rows(found.rows, columns, ids="tenant_id", empty="No tenants")
    print_more_hint(found, api_options)
    return 0


def format_quotas(tenant: Any) -> str:
    return " ".join(
        f"{name}={NO_LIMIT if value is None else value}" for name, value in tenant.quotas.items()
    )


@app.command
def show(tenant: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Show a tenant.

    Parameters
    ----------
    tenant
        Tenant name or number.
    """
    with api_options.open_client() as client:
        found = client.get_tenant(str(name_resolution.resolve_tenant(client, tenant).tenant_id))
    facts: list[tuple[str, object]] = [
        ("name", found.name),
        ("id", found.tenant_id),
        ("status", f"paused since {found.paused_at}" if found.is_paused else "active"),
        ("weight", found.weight),
        ("quotas", format_quotas(found)),
        ("created", found.created_at),
    ]
    api_options.print_record(found, facts, ids="tenant_id")
    return 0


@app.command
def create(
    name: str,
    /,
    *,
    tenant_options: TenantOptions = DEFAULT_TENANT_OPTIONS,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Create a tenant.

    Parameters
    ----------
    name
        Unique name.
    """
    with api_options.open_client() as client:
        fields = drop_empty(weight=tenant_options.weight, quotas=tenant_options.build_quotas())
        made = client.create_tenant(name=name, **fields)
    api_options.print_result(
        made, f"Created tenant {made.name} (id {made.tenant_id})", id_=made.tenant_id
    )
    return 0


@app.command
def edit(
    tenant: str,
    /,
    *,
    tenant_options: TenantOptions = DEFAULT_TENANT_OPTIONS,
    no_quotas: Annotated[bool, Parameter(name="--no-quotas", negative=())] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
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
    fields = drop_empty(weight=tenant_options.weight, quotas=tenant_options.build_quotas())
    if no_quotas:
        if "quotas" in fields:
            raise UsageError("--no-quotas resets all quotas; do not combine it with a quota option")
        fields["quotas"] = {}
    if not fields:
        raise UsageError("nothing to change: give at least one option, such as --weight")
    with api_options.open_client() as client:
        id_ = str(name_resolution.resolve_tenant(client, tenant).tenant_id)
        done = client.update_tenant(id_, **fields)
    api_options.print_result(done, f"Updated tenant {done.name}", id_=done.tenant_id)
    return 0


@app.command
def delete(
    tenant: str,
    /,
    *,
    yes: Annotated[bool, YES_FLAG] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Delete a tenant. Fails if it has jobs.

    Parameters
    ----------
    tenant
        Tenant name or number.
    yes
        Skip the confirmation.
    """
    with api_options.open_client() as client:
        found = name_resolution.resolve_tenant(client, tenant)
        if not confirm(f"Delete tenant {found.name}?", yes=yes):
            return 1
        client.delete_tenant(str(found.tenant_id))
    api_options.print_result(found, f"Deleted tenant {found.name}", id_=found.tenant_id)
    return 0


@app.command
def pause(tenant: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Pause a tenant: start no new runs. Current runs continue.

    Parameters
    ----------
    tenant
        Tenant name or number.
    """
    with api_options.open_client() as client:
        done = client.pause_tenant(str(name_resolution.resolve_tenant(client, tenant).tenant_id))
    api_options.print_result(done, f"Paused tenant {done.name}", id_=done.tenant_id)
    return 0


@app.command
def resume(tenant: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Resume a paused tenant.

    Parameters
    ----------
    tenant
        Tenant name or number.
    """
    with api_options.open_client() as client:
        done = client.resume_tenant(str(name_resolution.resolve_tenant(client, tenant).tenant_id))
    api_options.print_result(done, f"Resumed tenant {done.name}", id_=done.tenant_id)
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
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
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
    check_key_file(to)
    with api_options.open_client() as client:
        id_ = str(name_resolution.resolve_tenant(client, tenant).tenant_id)
        made = client.create_tenant_key(id_, name=name, role=role, **drop_empty(lifetime=lifetime))
    print_key(made, to=to, api_options=api_options)
    return 0
