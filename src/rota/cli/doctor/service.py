"""The API, and what can be seen through it: queues, kinds, dead letters. Room: cli/doctor."""

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
    ok,
    several,
    warning,
)
from rota.cli.listing import Most, gather
from rota.cli.output import sentence
from rota.core.errors import RotaError
from rota.core.kind_remedies import group_by_remedy
from rota.core.tenancy import EVERY_TENANT
from rota.core.time import moments
from rota.core.time.durations import words
from rota.sdk.client import Client
from rota.sdk.client.errors import ApiError, Unreachable

SOON: Final = timedelta(days=14)
WAITING_LONG: Final = timedelta(minutes=5)
JOBS: Final = 1000
TENANTS_MAX: Final = 1000
SHOWN: Final = 5


def check_service(client: Client, *, with_processes: bool) -> Iterator[Finding]:
    """What the API says. The processes are told here if no database could be asked."""
    try:
        client.get_readiness()
        who = client.get_whoami()
    except (ApiError, Unreachable) as error:
        yield unwell(client, error)
        return
    except RotaError as error:
        yield bad("api", sentence(error), "give the address of the API as --url or ROTA_URL")
        return
    yield ok("api", f"{client.url} answers; the key {who.name} is of {who.tenant} ({who.role})")
    yield from expiry(who)
    workers = list(client.list_workers().items)
    if with_processes:
        yield from processes(client, workers)
    own = [each for each in workers if serves(each, who.tenant)]
    yield from queues(client, own)
    yield from kinds(client, own)
    if who.role == "platform":
        yield from tenants(client, workers)
    yield dead(client)


def serves(worker: Any, tenant: str) -> bool:
    return tenant in worker.tenants or EVERY_TENANT in worker.tenants


def tenants(client: Client, workers: list[Any]) -> Iterator[Finding]:
    """Tenants of whom no worker takes runs; of many tenants the first are looked at."""
    found = gather(client.list_tenants, most=Most(limit=TENANTS_MAX)).rows
    alone = [each.name for each in found if not any(serves(one, each.name) for one in workers)]
    if not alone or not workers:
        return
    said = ", ".join(islice(alone, SHOWN)) + (", …" if len(alone) > SHOWN else "")
    remedy = f"name them in worker.tenants of a worker, or start `rota worker --tenant {alone[0]}`"
    yield warning("tenants", f"no worker takes runs of {said}", remedy)


def unwell(client: Client, error: ApiError | Unreachable) -> Finding:
    if isinstance(error, Unreachable):
        source = "" if error.address is None else f" ({error.address.describe('--url')})"
        detail = f"cannot reach {client.url}{source}: {error.reason}"
        remedy = "start Rota with `rota up`, or give its address as --url or ROTA_URL"
        return bad("api", detail, remedy)
    if error.status in {401, 403}:
        detail = f"{client.url} answers, and refuses the key: {error.detail}"
        return bad("api", detail, "give a valid one with --key-file or ROTA_API_KEY")
    remedy = "look at the log of the API; the database may be away"
    return bad("api", f"{client.url}: {sentence(error)}", remedy)


def expiry(who: Any) -> Iterator[Finding]:
    remedy = "`rota keys create` makes another, `rota keys renew-admin` the bootstrap admin key"
    if who.expires_at is None:
        yield warning("key", f"the key {who.name} never expires", remedy)
        return
    left = moments.parse(who.expires_at) - times.now()
    if left < SOON:
        yield warning("key", f"the key {who.name} expires in {times.short(left)}", remedy)


def processes(client: Client, workers: list[Any]) -> Iterator[Finding]:
    schedulers = client.list_schedulers().items
    if schedulers:
        yield ok("schedulers", f"{several(len(schedulers), 'scheduler')} alive")
    else:
        yield bad("schedulers", "none is alive: no job fires", START_SCHEDULER)
    if workers:
        yield ok("workers", f"{several(len(workers), 'worker')} alive")
    else:
        yield bad("workers", "none is alive: no run starts", START_WORKER)
    unowned = sum(each.scheduler is None for each in client.list_shards().items)
    if unowned:
        remedy = "wait a few seconds; if it stays, look at the schedulers' logs"
        yield warning("shards", f"{several(unowned, 'shard')} without a scheduler", remedy)


def queues(client: Client, workers: list[Any]) -> Iterator[Finding]:
    served = {name for worker in workers for name in worker.queues}
    wrong = False
    for queue in client.list_queues().items:
        for finding in queue_findings(queue, served):
            wrong = True
            yield finding
    if not wrong:
        yield ok("queues", "nothing waits for long")


def queue_findings(queue: Any, served: set[str]) -> Iterator[Finding]:
    if not queue.waiting:
        return
    waits = f"{several(queue.waiting, 'run')} in the queue {queue.name}"
    if queue.name not in served:
        remedy = f"start a worker that does: `rota worker --queue {queue.name}`"
        yield bad("queues", f"no worker serves {waits}", remedy)
        return
    if queue.is_paused:
        remedy = f"`rota queues resume {queue.name}` when it is time"
        yield warning("queues", f"{waits} wait: it is paused", remedy)
        return
    since = queue.oldest_waiting_since
    waited = timedelta(0) if since is None else times.now() - moments.parse(since)
    if waited > WAITING_LONG:
        remedy = f"`rota runs list --queue {queue.name} --status queued`, then `rota why RUN`"
        yield warning("queues", f"{waits}, the oldest for {times.short(waited)}", remedy)


def kinds(client: Client, workers: list[Any]) -> Iterator[Finding]:
    """Kinds that active jobs have and no worker serves; of many jobs the newest are looked at."""
    served = {name for worker in workers for name in worker.kinds}
    jobs = gather(client.list_jobs, most=Most(limit=JOBS), status=["active", "pending"]).rows
    alone = sorted({job.kind for job in jobs} - served)
    if not alone:
        yield ok("kinds", "every kind of an active job is served by a worker")
        return
    payloads = {kind: [job.payload for job in jobs if job.kind == kind] for kind in alone}
    for remedy, named in group_by_remedy(payloads).items():
        said = ", ".join(islice(named, SHOWN)) + (", …" if len(named) > SHOWN else "")
        yield warning("kinds", f"no worker serves {said}", remedy)


def dead(client: Client) -> Finding:
    groups = client.list_dead_groups(limit=200).items
    number = sum(group.count for group in groups)
    if not number:
        return ok("dead letters", f"none in the last {words(timedelta(days=30))}")
    said = f"{several(number, 'run')} that somebody should look at"
    return warning("dead letters", said, "`rota dead groups` shows them by what went wrong")
