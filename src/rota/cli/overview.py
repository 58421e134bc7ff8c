"""Reads a snapshot of the cluster and renders it as lines for `rota top`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from rota.cli import times
from rota.cli.commands.observing import sparkline
from rota.cli.commands.runs import took
from rota.cli.output import sentence
from rota.cli.tables import Column, Screen, coloured, cut, shown, table
from rota.core.errors import RotaError
from rota.core.time import moments

if TYPE_CHECKING:
    from rota.sdk.client import Client

LATELY: Final = timedelta(minutes=1)
MOST: Final = 200
BAR: Final = 16
# Minimum lines of a section on a low screen.
FEWEST: Final = 3
HEADS: Final = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A snapshot from the API, with the time of the request by the local clock."""

    url: str
    who: Any
    now: datetime
    statistics: Any
    series: Any
    workers: Sequence[Any]
    schedulers: Sequence[Any]
    queues: Sequence[Any]
    running: Sequence[Any]
    failures: Sequence[Any]

    def plain(self) -> dict[str, Any]:
        return {
            "url": self.url,
            "now": self.now,
            "statistics": self.statistics,
            "series": self.series,
            "workers": self.workers,
            "schedulers": self.schedulers,
            "queues": self.queues,
            "running": self.running,
            "failures": self.failures,
        }


def look(client: "Client") -> Frame:
    now = times.now()
    return Frame(
        url=client.url,
        who=client.get_whoami(),
        now=now,
        statistics=client.get_statistics(since=moments.to_rfc3339(now - LATELY)),
        series=client.get_series(span="hour"),
        workers=client.list_workers().items,
        schedulers=client.list_schedulers().items,
        queues=client.list_queues().items,
        running=client.list_runs(status=["running", "cancelling"], limit=MOST).items,
        failures=client.list_dead_letters(limit=10).items,
    )


def lines(
    frame: Frame, screen: Screen, *, height: int | None = None, trouble: RotaError | None = None
) -> Iterator[str]:
    """Render the screen. With a height, each section shows as many rows as fit."""
    room = None if height is None else max(FEWEST, (height - HEADS) // 3)
    yield from heading(frame, screen, trouble)
    yield ""
    yield from section(processes(frame), PROCESSES, screen, room, empty="No processes running")
    yield ""
    busy = sorted(frame.queues, key=lambda queue: (-queue.waiting - queue.running, queue.name))
    yield from section(busy, queue_columns(frame.now), screen, room, empty="No queues")
    yield ""
    running = run_columns(frame.now)
    yield from section(frame.running, running, screen, room, empty="No active runs")
    yield ""
    failed = failure_columns(frame.now)
    yield from section(frame.failures, failed, screen, room, empty="No failures")


def heading(frame: Frame, screen: Screen, trouble: RotaError | None) -> Iterator[str]:
    found = frame.statistics
    title = (
        f"rota top · {frame.url} · tenant {frame.who.tenant} · {frame.now:%H:%M:%S} UTC · q: quit"
    )
    yield coloured(fitted(shown(title), screen), "head", screen)
    if trouble is not None:
        yield coloured(fitted(shown(sentence(trouble)), screen), "bad", screen)
    waiting = sum(queue.waiting for queue in frame.queues)
    running = f"{len(frame.running)}{'+' if len(frame.running) == MOST else ''} running"
    yield fitted(f"{running} · {waiting} waiting · {pace(found)}", screen)
    numbers = [sum(bucket.runs.values()) for bucket in frame.series.buckets]
    yield fitted(f"{sparkline(numbers)}  {sum(numbers)} runs in the last hour", screen)


def pace(found: Any) -> str:
    """Summarize the last minute: rate, failures, waits, durations, late ticks."""
    parts = [f"last minute: {found.runs_per_second:.3g} runs/s"]
    if found.failure_rate is not None:
        parts.append(f"{found.failure_rate:.0%} failed")
    if found.wait_p50_s is not None:
        parts.append(
            f"p50/p99 wait {times.lasted(found.wait_p50_s)}/{times.lasted(found.wait_p99_s)}"
        )
    if found.duration_p50_s is not None:
        p50, p99 = times.lasted(found.duration_p50_s), times.lasted(found.duration_p99_s)
        parts.append(f"p50/p99 duration {p50}/{p99}")
    if found.late_ticks:
        parts.append(
            f"{found.late_ticks} ticks late by up to {times.lasted(found.latest_tick_by_s)}"
        )
    return ", ".join(parts)


def fitted(text: str, screen: Screen) -> str:
    return text if screen.width is None else cut(text, screen.width)


def section(
    rows: Sequence[Any],
    columns: Sequence[Column[Any]],
    screen: Screen,
    room: int | None,
    *,
    empty: str,
) -> Iterator[str]:
    if not rows:
        yield coloured(empty, "faint", screen)
        return
    shown_rows = rows if room is None else rows[:room]
    yield from table(columns, shown_rows, screen)
    if len(shown_rows) < len(rows):
        yield coloured(f"… {len(rows) - len(shown_rows)} more", "faint", screen)


def processes(frame: Frame) -> list[tuple[str, str, str, str, str]]:
    rows = []
    for process in frame.schedulers:
        up = times.since(process.started_at, frame.now)
        state = "draining" if process.is_draining else "alive"
        rows.append(("scheduler", process.name, state, up, f"{len(process.shards)} shards"))
    for process in frame.workers:
        up = times.since(process.started_at, frame.now)
        state = "draining" if process.is_draining else "alive"
        work = f"{process.running}/{process.slots} busy, {' '.join(process.queues)}"
        rows.append(("worker", process.name, state, up, work))
    return rows


PROCESSES: Final[list[Column[Any]]] = [
    Column("PROCESS", lambda row: row[0]),
    Column("NAME", lambda row: row[1], flexible=True),
    Column("STATUS", lambda row: row[2]),
    Column("UP", lambda row: row[3], right=True),
    Column("WORK", lambda row: row[4], flexible=True),
]


def queue_columns(now: datetime) -> list[Column[Any]]:
    return [
        Column("QUEUE", lambda queue: queue.name, flexible=True),
        Column("STATUS", lambda queue: "paused" if queue.is_paused else "active", mood=True),
        Column("WAITING", lambda queue: queue.waiting, right=True),
        Column("LATER", lambda queue: queue.later, right=True),
        Column("RUNNING", lambda queue: queue.running, right=True),
        Column("OLDEST", lambda queue: times.since(queue.oldest_waiting_since, now), right=True),
    ]


def run_columns(now: datetime) -> list[Column[Any]]:
    return [
        Column("RUNNING", lambda run: run.job_name or run.job_id, flexible=True),
        Column("ATTEMPT", lambda run: run.attempt_number, right=True),
        Column("FOR", lambda run: took(run, now), right=True),
        Column("PROGRESS", lambda run: bar(run.progress)),
        Column("WORKER", lambda run: run.worker, flexible=True),
        Column("MESSAGE", lambda run: run.progress_message, flexible=True),
    ]


def bar(share: float | None) -> str:
    if share is None:
        return ""
    full = round(max(0.0, min(1.0, share)) * BAR)
    return f"{'━' * full}{'─' * (BAR - full)} {share:4.0%}"


def failure_columns(now: datetime) -> list[Column[Any]]:
    return [
        Column("FAILED", lambda run: run.job_name or run.job_id, flexible=True),
        Column("STATUS", lambda run: run.status, mood=True),
        Column("WHEN", lambda run: times.ago(run.end_time, now)),
        Column("MESSAGE", lambda run: run.error_message, flexible=True),
    ]
