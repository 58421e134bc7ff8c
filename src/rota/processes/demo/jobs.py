"""Creates the example jobs of `rota up --demo` and prints their outcomes."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from rota.core.limits import JobLimit
from rota.core.overlap import Overlap
from rota.core.policy import Policy, RetryPolicy
from rota.core.states import RunState
from rota.core.submissions import JobSpec
from rota.engine.submission.job_submission import submit_jobs
from rota.store.driver import Connection, ConnectionSource
from rota.store.jobs import find_job_ids
from rota.store.pool import read_database_time
from rota.store.run_views import EndedRunSummary, read_latest_endings

# The tenant `default`, which always exists.
DEFAULT_TENANT_ID: Final = 1
QUICK_POLICY: Final = Policy(
    retries=RetryPolicy(base_delay=timedelta(seconds=2)), timeout=timedelta(minutes=1)
)
POLL_INTERVAL_S: Final = 1.0
MILLISECOND: Final = timedelta(milliseconds=1)
# Two branches that join, one of them a map, and a step that runs on failure.
PIPELINE: Final = [
    {"name": "extract", "kind": "demo.report", "payload": {"pages": {"$": "input.pages"}}},
    {"name": "clean", "kind": "demo.flaky", "needs": ["extract"]},
    {
        "name": "each_page",
        "kind": "demo.customer",
        "needs": ["extract"],
        "map": {"over": "steps.extract.result.pages"},
        "payload": {"customer": {"$": "index"}},
    },
    {"name": "load", "kind": "demo.heartbeat", "needs": ["clean", "each_page"]},
    {"name": "alarm", "kind": "demo.heartbeat", "needs": ["clean", "each_page"], "when": "failure"},
]


def build_specs() -> list[JobSpec]:
    """Return the example jobs; handlers.py describes what each one shows."""
    return [
        JobSpec(name="demo: heartbeat", kind="demo.heartbeat", schedule={"every": "5s"}),
        JobSpec(
            name="demo: report every minute",
            kind="demo.report",
            schedule={"cron": "* * * * *", "timezone": "Europe/Berlin"},
            payload={"pages": 10},
            policy=QUICK_POLICY,
        ),
        JobSpec(
            name="demo: flaky service",
            kind="demo.flaky",
            schedule={"every": "10s"},
            policy=QUICK_POLICY,
        ),
        JobSpec(
            name="demo: dead letter",
            kind="demo.hopeless",
            schedule={"cron": "*/5 * * * *"},
        ),
        JobSpec(
            name="demo: import with checkpoint",
            kind="demo.import",
            schedule={"every": "30s"},
            policy=QUICK_POLICY,
        ),
        JobSpec(name="demo: slower than its interval", kind="demo.slow", schedule={"every": "5s"}),
        *(
            JobSpec(
                name=f"demo: customer {number}",
                kind="demo.customer",
                schedule={"every": "3s"},
                payload={"customer": number},
                overlap=Overlap.ALLOW,
                limits=(JobLimit(key="customer:{args.customer}", max_running=1),),
            )
            for number in (1, 2)
        ),
        JobSpec(
            name="demo: low priority",
            kind="demo.heartbeat",
            schedule={"every": "15s"},
            priority=9,
            overlap=Overlap.QUEUE_ALL,
        ),
        JobSpec(
            name="demo: pipeline",
            kind="graph",
            schedule={"every": "1m"},
            payload={"pages": 4},
            policy=QUICK_POLICY,
            graph={"steps": PIPELINE},
        ),
    ]


async def create_missing_jobs(
    conn: Connection, *, now: datetime, new_id: Callable[[], UUID]
) -> int:
    """Create the missing example jobs and return their number."""
    examples = build_specs()
    names = [spec.display_name for spec in examples]
    present = await find_job_ids(conn, tenant_id=DEFAULT_TENANT_ID, names=names)
    missing = [spec for spec in examples if spec.name not in present]
    if missing:
        await submit_jobs(conn, missing, now=now, new_id=new_id)
    return len(missing)


@dataclass(slots=True, kw_only=True)
class OutcomePrinter:
    """Prints the outcomes of the example jobs at the terminal.

    A duty that polls for runs that ended since its last pass. It serves the demonstration only;
    real monitoring uses the feed, the metrics and the API.
    """

    source: ConnectionSource
    say: Callable[[str], object]
    name_prefix: str
    _since: datetime | None = None

    async def tick(self) -> float:
        async with self.source.acquire() as conn:
            if self._since is None:
                self._since = await read_database_time(conn)
            ended = await read_latest_endings(conn, since=self._since)
        for run in ended:
            self._since = run.finished_at
            if run.name is not None and run.name.startswith(self.name_prefix):
                self.say(describe_outcome(run))
        return POLL_INTERVAL_S


def describe_outcome(run: EndedRunSummary) -> str:
    text = f"{run.finished_at.astimezone(UTC):%H:%M:%S} UTC  {run.name}  {run.state.value}"
    if run.started_at is not None:
        text += f" after {(run.finished_at - run.started_at) / MILLISECOND:.0f} ms"
    if run.attempt > 1:
        text += f", at attempt {run.attempt}"
    if run.state is not RunState.SUCCEEDED and run.reason:
        text += f": {run.reason}"
    return text
