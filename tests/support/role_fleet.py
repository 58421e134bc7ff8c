"""A Rota whose processes have a login each: the owner migrates, and nobody else may."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

import psycopg

from rota.runtime.clock import SystemClock
from rota.sdk.client import Client
from rota.sdk.client.errors import ApiError, Unreachable
from rota.store.embedded import Embedded, start
from tests.support import role_jobs
from tests.support.cluster import ROOT, Cluster, Member
from tests.support.ports import find_free_ports

Seen = TypeVar("Seen")
PATIENCE_S = 60.0
LOOK_INTERVAL_S = 0.05
SERVICE, WORKER, BOTH = "fleet_service", "fleet_worker", "fleet_both"
LOGINS = f"""
create role {SERVICE} login password 'service' in role rota_service;
create role {WORKER} login password 'worker' in role rota_worker;
create role {BOTH} login password 'both' in role rota_service, rota_worker;
create table public.payments (amount integer not null);
grant insert on public.payments to {WORKER};
"""
# History of a day that is long over, which upkeep drops; and a run that no day holds.
OLD_HISTORY = """
select rota.make_partition('runs', date '2020-01-01');
insert into rota.runs (
    id, job_id, scheduled_at, due_at, created_at, finished_at, tenant_id, queue_id, kind_id,
    policy_id, job_version, state, trigger, priority
)
select
    '00000000-0000-0000-0000-000000000001', gen_random_uuid(), t.at, t.at, t.at, t.at,
    1, 1, 1, 1, 1, 'skipped', 'tick', 5
from (select timestamptz '2020-01-02' as at) as t;
"""
SETTINGS = {
    "ROTA_WORKER__LEASE": "3s",
    "ROTA_WORKER__BEAT_EVERY": "300ms",
    "ROTA_WORKER__STOP_AFTER": "2s",
    "ROTA_LOG__FORMAT": "json",
}


def until(look: Callable[[], Seen | None], what: str) -> Seen:
    """Look again and again until the answer is true; return it."""
    clock, rest = SystemClock(), threading.Event()
    end = clock.monotonic() + PATIENCE_S
    while not (seen := look()):
        assert clock.monotonic() < end, f"{what}: still {seen!r} after {PATIENCE_S} s"
        rest.wait(LOOK_INTERVAL_S)
    return seen


@dataclass(kw_only=True)
class RoleFleet:
    embedded: Embedded
    folder: Path
    cluster: Cluster
    client: Client
    worker: Member

    def url(self, login: str) -> str:
        return login_url(self.embedded.tcp_url, login)

    def connect(self, login: str | None = None) -> "psycopg.Connection[tuple[Any, ...]]":
        """A connection of a login; of the owner if none is named."""
        url = self.embedded.tcp_url if login is None else self.url(login)
        return psycopg.connect(url, autocommit=True)

    def start_worker(self) -> Member:
        self.worker = self.cluster.add(
            "worker",
            *("worker", "tests.support.role_jobs:app"),
            variables={"ROTA_DATABASE_URL": self.url(WORKER)},
        )
        return self.worker

    def finish(self, run_id: str) -> Any:
        """Wait until a run has ended, and return it."""

        def ended() -> Any:
            run = self.client.get_run(run_id)
            return run if run.end_time is not None else None

        return until(ended, f"the run {run_id}")

    def submit(self, kind: str, payload: object = None, **fields: Any) -> Any:
        """Make a job that runs at once, and wait for its run."""
        made = self.client.create_job(kind=f"roles.{kind}", payload=payload, **fields)
        assert made.run_id is not None
        return self.finish(made.run_id)

    def read_logs(self) -> str:
        return "".join(file.read_text() for file in sorted(self.folder.glob("*.log")))


def login_url(url: str, login: str) -> str:
    parts = urlsplit(url)
    password = login.removeprefix("fleet_")
    return urlunsplit(
        parts._replace(netloc=f"{login}:{password}@{parts.netloc.rpartition('@')[2]}")
    )


def migrate(url: str, folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run `rota migrate` with a login."""
    path = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    return subprocess.run(
        [sys.executable, "-m", "rota", "migrate", *words],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": path, "ROTA_DATABASE_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )


@contextmanager
def running_fleet(folder: Path) -> Iterator[RoleFleet]:
    """An API, a scheduler and a worker, each with its own login, until the block is left."""
    (folder / "master.key").write_text(bytes(range(32)).hex())
    (port,) = find_free_ports(1)
    variables = {
        "ROTA_DATABASE__DATA": str(folder / "data"),
        "ROTA_API__PORT": str(port),
        "ROTA_API__MASTER_KEY": str(folder / "master.key"),
        role_jobs.GATE: str(folder / "gate"),
    }
    with start(folder / "home") as embedded:
        done = migrate(embedded.tcp_url, folder)
        assert done.returncode == 0, done.stderr
        with psycopg.connect(embedded.tcp_url, autocommit=True) as owner:
            owner.execute(LOGINS)
            owner.execute(OLD_HISTORY)
        cluster = Cluster(folder=folder, settings=SETTINGS | variables)
        service = {"ROTA_DATABASE_URL": login_url(embedded.tcp_url, SERVICE)}
        try:
            cluster.add("api", "api", variables=service)
            cluster.add("scheduler", "scheduler", variables=service)
            yield _join(embedded, cluster, f"http://127.0.0.1:{port}")
        finally:
            cluster.close()


def _join(embedded: Embedded, cluster: Cluster, url: str) -> RoleFleet:
    key = cluster.folder / "data" / "admin.key"
    until(key.exists, f"the first key; {cluster.folder}/api.log tells")
    client = Client(url, key.read_text().strip(), retries=0)
    until(lambda: is_ready(client), "the API")
    fleet = RoleFleet(
        embedded=embedded,
        folder=cluster.folder,
        cluster=cluster,
        client=client,
        worker=cluster.members[0],
    )
    fleet.start_worker()
    return fleet


def is_ready(client: Client) -> bool:
    try:
        client.get_readiness()
    except (ApiError, Unreachable):
        return False
    return True
