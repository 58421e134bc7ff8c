"""Checks the API, and through it queues, kinds, tenants and dead letters."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from typing import Any, Final

from rota.cli import times
from rota.cli.doctor.findings import (
    START_SCHEDULER,
    START_WORKER,
    Finding,
    bad,
    format_count,
    ok,
    warning,
)
from rota.cli.output import describe_error
from rota.cli.pagination import ListLimit, list_rows
from rota.core.errors import RotaError
from rota.core.kind_remedies import group_by_remedy
from rota.core.tenancy import EVERY_TENANT
from rota.core.time import moments
from rota.core.time.durations import to_words
from rota.sdk.client import Client
from rota.sdk.client.errors import ApiError, Unreachable

EXPIRY_WARNING: Final = timedelta(days=14)
WAIT_WARNING: Final = timedelta(minutes=5)
JOBS_MAX: Final = 1000
TENANTS_MAX: Final = 1000
SHOWN_MAX: Final = 5


def check_service(client: Client, *, with_processes: bool) -> Iterator[Finding]:
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
    own = [each for each in workers if serves(each, who.tenant)]
    yield from check_queues(client, own)
    yield from check_kinds(client, own)
    if who.role == "platform":
        yield from check_tenants(client, workers)
    yield check_dead_letters(client)


def serves(worker: Any, tenant: str) -> bool:
    return tenant in worker.tenants or EVERY_TENANT in worker.tenants


def check_tenants(client: Client, workers: list[Any]) -> Iterator[Finding]:
    """Find tenants that no worker serves, among the first tenants."""
    found = list_rows(client.list_tenants, row_limit=ListLimit(limit=TENANTS_MAX)).rows
    alone = [each.name for each in found if not any(serves(one, each.name) for one in workers)]
    if not alone or not workers:
        return
    unserved = ", ".join(islice(alone, SHOWN_MAX)) + (", …" if len(alone) > SHOWN_MAX else "")
    remedy = f"add them to worker.tenants, or start `rota worker --tenant {alone[0]}`"
    yield warning("tenants", f"no worker serves {unserved}", remedy)


def describe_api_error(client: Client, error: ApiError | Unreachable) -> Finding:
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


def check_expiry(who: Any) -> Iterator[Finding]:
    remedy = "run `rota keys create`, or `rota keys renew-admin` for the bootstrap admin key"
    if who.expires_at is None:
        yield warning("key", f'key "{who.name}" never expires', remedy)
        return
    left = moments.parse(who.expires_at) - times.now()
    if left < EXPIRY_WARNING:
        yield warning("key", f'key "{who.name}" expires in {times.format_length(left)}', remedy)


def check_processes(client: Client, workers: list[Any]) -> Iterator[Finding]:
    schedulers = client.list_schedulers().items
    if schedulers:
        yield ok("schedulers", f"{format_count(len(schedulers), 'scheduler')} running")
    else:
        yield bad("schedulers", "none running; no job starts on schedule", START_SCHEDULER)
    if workers:
        yield ok("workers", f"{format_count(len(workers), 'worker')} running")
    else:
        yield bad("workers", "none running; no run starts", START_WORKER)
    unowned = sum(each.scheduler is None for each in client.list_shards().items)
    if unowned:
        remedy = "wait a few seconds; if it persists, check the schedulers' logs"
        yield warning("shards", f"{format_count(unowned, 'shard')} without a scheduler", remedy)


def check_queues(client: Client, workers: list[Any]) -> Iterator[Finding]:
    served = {name for worker in workers for name in worker.queues}
    wrong = False
    for queue in client.list_queues().items:
        for finding in check_queue(queue, served):
            wrong = True
            yield finding
    if not wrong:
        yield ok("queues", "no run has waited for long")


def check_queue(queue: Any, served: set[str]) -> Iterator[Finding]:
    if not queue.waiting:
        return
    waiting = f"{format_count(queue.waiting, 'run')} in queue {queue.name}"
    if queue.name not in served:
        remedy = f"start one with `rota worker --queue {queue.name}`"
        yield bad("queues", f"no worker serves {waiting}", remedy)
        return
    if queue.is_paused:
        remedy = f"resume it with `rota queues resume {queue.name}`"
        yield warning("queues", f"{waiting}, which is paused", remedy)
        return
    since = queue.oldest_waiting_since
    waited = timedelta(0) if since is None else times.now() - moments.parse(since)
    if waited > WAIT_WARNING:
        remedy = f"run `rota runs list --queue {queue.name} --status queued`, then `rota why RUN`"
        yield warning("queues", f"{waiting}, the oldest for {times.format_length(waited)}", remedy)


def check_kinds(client: Client, workers: list[Any]) -> Iterator[Finding]:
    """Find kinds of active jobs that no worker serves, among the newest jobs."""
    served = {name for worker in workers for name in worker.kinds}
    jobs = list_rows(
        client.list_jobs, row_limit=ListLimit(limit=JOBS_MAX), status=["active", "pending"]
    ).rows
    alone = sorted({job.kind for job in jobs} - served)
    if not alone:
        yield ok("kinds", "workers serve the kinds of all active jobs")
        return
    payloads = {kind: [job.payload for job in jobs if job.kind == kind] for kind in alone}
    for remedy, named in group_by_remedy(payloads).items():
        unserved = ", ".join(islice(named, SHOWN_MAX)) + (", …" if len(named) > SHOWN_MAX else "")
        yield warning("kinds", f"no worker serves {unserved}", remedy)


def check_dead_letters(client: Client) -> Finding:
    groups = client.list_dead_groups(limit=200).items
    number = sum(group.count for group in groups)
    if not number:
        return ok("dead letters", f"none in the last {to_words(timedelta(days=30))}")
    detail = f"{format_count(number, 'dead letter')} to review"
    return warning("dead letters", detail, "group them by error with `rota dead groups`")
