"""Checks the API, and through it what is wrong with queues, jobs, sources and alerts."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from typing import Any, Final

from rota.cli import times
from rota.cli.doctor.findings import (
    DoctorFinding,
    bad,
    format_count,
    ok,
    warning,
)
from rota.cli.output import describe_error
from rota.cli.pagination import ListLimit, list_rows
from rota.core.errors import RotaError
from rota.core.tenancy import EVERY_TENANT
from rota.core.time import moments
from rota.sdk.client import Client
from rota.sdk.client.errors import ApiError, Unreachable

EXPIRY_WARNING: Final = timedelta(days=14)
TENANTS_MAX: Final = 1000
SHOWN_MAX: Final = 5
# Problems that the checks of the database find too.
PROCESS_CODES: Final = frozenset(
    {"no_scheduler", "no_worker", "shard_without_owner", "tick_overdue"}
)
CHECK_NAMES: Final = {
    "no_worker_for_kind": "kinds",
    "dead_letters": "dead letters",
    "quota_nearly_used": "quotas",
    "endpoint_disabled": "webhooks",
    "endpoint_failing": "webhooks",
    "no_scheduler": "schedulers",
    "shard_without_owner": "shards",
    "tick_overdue": "ticks",
    "no_worker": "workers",
}


def check_service(client: Client, *, with_processes: bool) -> Iterator[DoctorFinding]:
    """Run the checks that use the API; those of processes only if the database was unreachable."""
    try:
        client.get_readiness()
        who = client.get_whoami()
    except (ApiError, Unreachable) as error:
        yield describe_api_error(client, error)
        return
    except RotaError as error:
        yield bad("api", describe_error(error), "set the address of the API with --url or ROTA_URL")
        return
    identity = f'authenticated as "{who.name}", tenant {who.tenant}, role {who.role}'
    yield ok("api", f"{client.url}: {identity}")
    yield from check_expiry(who)
    workers = list(client.list_workers().items)
    if with_processes:
        yield from check_processes(client, workers)
    yield from check_problems(client, with_processes=with_processes)
    if who.role == "platform":
        yield from check_tenants(client, workers)


def serves(worker: Any, tenant: str) -> bool:
    return tenant in worker.tenants or EVERY_TENANT in worker.tenants


def check_tenants(client: Client, workers: list[Any]) -> Iterator[DoctorFinding]:
    """Find tenants that no worker serves, among the first tenants."""
    found = list_rows(client.list_tenants, row_limit=ListLimit(limit=TENANTS_MAX)).rows
    alone = [each.name for each in found if not any(serves(one, each.name) for one in workers)]
    if not alone or not workers:
        return
    unserved = ", ".join(islice(alone, SHOWN_MAX)) + (", …" if len(alone) > SHOWN_MAX else "")
    remedy = f"add them to worker.tenants, or start `rota worker --tenant {alone[0]}`"
    yield warning("tenants", f"no worker serves {unserved}", remedy)


def describe_api_error(client: Client, error: ApiError | Unreachable) -> DoctorFinding:
    if isinstance(error, Unreachable):
        source = "" if error.address is None else f" ({error.address.describe('--url')})"
        detail = f"cannot reach {client.url}{source}: {error.reason}"
        remedy = "start Rota with `rota up`, or set its address with --url or ROTA_URL"
        return bad("api", detail, remedy)
    if error.status in {401, 403}:
        detail = f"{client.url} rejects the key: {error.detail}"
        return bad("api", detail, "set a valid key with --key-file or ROTA_API_KEY")
    remedy = "check the log of the API; the database may be unreachable"
    return bad("api", f"{client.url}: {describe_error(error)}", remedy)


def check_expiry(who: Any) -> Iterator[DoctorFinding]:
    remedy = "run `rota keys create`, or `rota keys renew-admin` for the bootstrap admin key"
    if who.expires_at is None:
        yield warning("key", f'key "{who.name}" never expires', remedy)
        return
    left = moments.parse(who.expires_at) - times.now()
    if left < EXPIRY_WARNING:
        yield warning("key", f'key "{who.name}" expires in {times.format_length(left)}', remedy)


def check_processes(client: Client, workers: list[Any]) -> Iterator[DoctorFinding]:
    """Count the processes; `check_problems` reports those that are missing."""
    schedulers = client.list_schedulers().items
    if schedulers:
        yield ok("schedulers", f"{format_count(len(schedulers), 'scheduler')} running")
    if workers:
        yield ok("workers", f"{format_count(len(workers), 'worker')} running")


def check_problems(client: Client, *, with_processes: bool) -> Iterator[DoctorFinding]:
    """Report the problems that `GET /v1/problems` lists; those of processes only if the database
    was not checked directly.
    """
    listed = client.list_problems(fresh=True).items
    shown = [each for each in listed if with_processes or each.code not in PROCESS_CODES]
    for problem in shown:
        yield describe_problem(problem)
    if not any(problem.severity != "info" for problem in shown):
        yield ok("problems", "no run waits without a reason, and no incident is open")


def describe_problem(problem: Any) -> DoctorFinding:
    check = CHECK_NAMES.get(problem.code, f"{problem.subject.kind}s")
    detail = " ".join(filter(None, (problem.sentence, problem.cause)))
    if problem.severity == "info":
        return ok(check, detail)
    return (bad if problem.severity == "page" else warning)(check, detail, problem.remedy)
