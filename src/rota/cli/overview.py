"""Reads a snapshot of the cluster and renders it as lines for `rota top`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from rota.cli import times
from rota.cli.commands.inspection import draw_sparkline
from rota.cli.commands.runs import format_duration
from rota.cli.output import describe_error
from rota.cli.tables import (
    Screen,
    TableColumn,
    colour_text,
    format_cell,
    render_table,
    truncate_text,
)
from rota.core.errors import RotaError
from rota.core.time import moments

if TYPE_CHECKING:
    from rota.sdk.client import Client

RATE_WINDOW: Final = timedelta(minutes=1)
RUNNING_RUNS_MAX: Final = 200
BAR_WIDTH: Final = 16
# Minimum lines of a section on a low screen.
SECTION_ROWS_MIN: Final = 3
FIXED_LINES: Final = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSnapshot:
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

    def to_plain(self) -> dict[str, Any]:
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


def read_snapshot(client: "Client") -> ClusterSnapshot:
    now = times.now()
    return ClusterSnapshot(
        url=client.url,
        who=client.get_whoami(),
        now=now,
        statistics=client.get_statistics(since=moments.to_rfc3339(now - RATE_WINDOW)),
        series=client.get_series(span="hour"),
        workers=client.list_workers().items,
        schedulers=client.list_schedulers().items,
        queues=client.list_queues().items,
        running=client.list_runs(status=["running", "cancelling"], limit=RUNNING_RUNS_MAX).items,
        failures=client.list_dead_letters(limit=10).items,
    )


def render_snapshot(
    snapshot: ClusterSnapshot,
    screen: Screen,
    *,
    height: int | None = None,
    error: RotaError | None = None,
) -> Iterator[str]:
    """Render the screen. With a height, each section shows as many rows as fit."""
    room = None if height is None else max(SECTION_ROWS_MIN, (height - FIXED_LINES) // 3)
    yield from render_heading(snapshot, screen, error)
    yield ""
    yield from render_section(
        list_processes(snapshot), PROCESS_COLUMNS, screen, room, empty="No processes running"
    )
    yield ""
    busy = sorted(snapshot.queues, key=lambda queue: (-queue.waiting - queue.running, queue.name))
    yield from render_section(
        busy, build_queue_columns(snapshot.now), screen, room, empty="No queues"
    )
    yield ""
    running = build_run_columns(snapshot.now)
    yield from render_section(snapshot.running, running, screen, room, empty="No active runs")
    yield ""
    failed = build_failure_columns(snapshot.now)
    yield from render_section(snapshot.failures, failed, screen, room, empty="No failures")


def render_heading(
    snapshot: ClusterSnapshot, screen: Screen, error: RotaError | None
) -> Iterator[str]:
    found = snapshot.statistics
    title = (
        f"rota top · {snapshot.url} · tenant {snapshot.who.tenant} · "
        f"{snapshot.now:%H:%M:%S} UTC · q: quit"
    )
    yield colour_text(fit_line(format_cell(title), screen), "head", screen)
    if error is not None:
        yield colour_text(fit_line(format_cell(describe_error(error)), screen), "bad", screen)
    waiting = sum(queue.waiting for queue in snapshot.queues)
    running = (
        f"{len(snapshot.running)}{'+' if len(snapshot.running) == RUNNING_RUNS_MAX else ''} running"
    )
    yield fit_line(f"{running} · {waiting} waiting · {describe_rate(found)}", screen)
    numbers = [sum(bucket.runs.values()) for bucket in snapshot.series.buckets]
    yield fit_line(f"{draw_sparkline(numbers)}  {sum(numbers)} runs in the last hour", screen)


def describe_rate(statistics: Any) -> str:
    """Summarize the last minute: rate, failures, waits, durations, late ticks."""
    parts = [f"last minute: {statistics.runs_per_second:.3g} runs/s"]
    if statistics.failure_rate is not None:
        parts.append(f"{statistics.failure_rate:.0%} failed")
    if statistics.wait_p50_s is not None:
        parts.append(
            f"p50/p99 wait {times.format_seconds(statistics.wait_p50_s)}"
            f"/{times.format_seconds(statistics.wait_p99_s)}"
        )
    if statistics.duration_p50_s is not None:
        p50, p99 = (
            times.format_seconds(statistics.duration_p50_s),
            times.format_seconds(statistics.duration_p99_s),
        )
        parts.append(f"p50/p99 duration {p50}/{p99}")
    if statistics.late_ticks:
        parts.append(
            f"{statistics.late_ticks} ticks late by up to "
            f"{times.format_seconds(statistics.latest_tick_by_s)}"
        )
    return ", ".join(parts)


def fit_line(text: str, screen: Screen) -> str:
    return text if screen.width is None else truncate_text(text, screen.width)


def render_section(
    rows: Sequence[Any],
    columns: Sequence[TableColumn[Any]],
    screen: Screen,
    room: int | None,
    *,
    empty: str,
) -> Iterator[str]:
    if not rows:
        yield colour_text(empty, "faint", screen)
        return
    shown_rows = rows if room is None else rows[:room]
    yield from render_table(columns, shown_rows, screen)
    if len(shown_rows) < len(rows):
        yield colour_text(f"… {len(rows) - len(shown_rows)} more", "faint", screen)


def list_processes(snapshot: ClusterSnapshot) -> list[tuple[str, str, str, str, str]]:
    rows = []
    for process in snapshot.schedulers:
        up = times.format_since(process.started_at, snapshot.now)
        state = "draining" if process.is_draining else "alive"
        rows.append(("scheduler", process.name, state, up, f"{len(process.shards)} shards"))
    for process in snapshot.workers:
        up = times.format_since(process.started_at, snapshot.now)
        state = "draining" if process.is_draining else "alive"
        work = f"{process.running}/{process.slots} busy, {' '.join(process.queues)}"
        rows.append(("worker", process.name, state, up, work))
    return rows


PROCESS_COLUMNS: Final[list[TableColumn[Any]]] = [
    TableColumn("PROCESS", lambda row: row[0]),
    TableColumn("NAME", lambda row: row[1], flexible=True),
    TableColumn("STATUS", lambda row: row[2]),
    TableColumn("UP", lambda row: row[3], right=True),
    TableColumn("WORK", lambda row: row[4], flexible=True),
]


def build_queue_columns(now: datetime) -> list[TableColumn[Any]]:
    return [
        TableColumn("QUEUE", lambda queue: queue.name, flexible=True),
        TableColumn("STATUS", lambda queue: "paused" if queue.is_paused else "active", mood=True),
        TableColumn("WAITING", lambda queue: queue.waiting, right=True),
        TableColumn("LATER", lambda queue: queue.later, right=True),
        TableColumn("RUNNING", lambda queue: queue.running, right=True),
        TableColumn(
            "OLDEST", lambda queue: times.format_since(queue.oldest_waiting_since, now), right=True
        ),
    ]


def build_run_columns(now: datetime) -> list[TableColumn[Any]]:
    return [
        TableColumn("RUNNING", lambda run: run.job_name or run.job_id, flexible=True),
        TableColumn("ATTEMPT", lambda run: run.attempt_number, right=True),
        TableColumn("FOR", lambda run: format_duration(run, now), right=True),
        TableColumn("PROGRESS", lambda run: draw_bar(run.progress)),
        TableColumn("WORKER", lambda run: run.worker, flexible=True),
        TableColumn("MESSAGE", lambda run: run.progress_message, flexible=True),
    ]


def draw_bar(share: float | None) -> str:
    if share is None:
        return ""
    full = round(max(0.0, min(1.0, share)) * BAR_WIDTH)
    return f"{'━' * full}{'─' * (BAR_WIDTH - full)} {share:4.0%}"


def build_failure_columns(now: datetime) -> list[TableColumn[Any]]:
    return [
        TableColumn("FAILED", lambda run: run.job_name or run.job_id, flexible=True),
        TableColumn("STATUS", lambda run: run.status, mood=True),
        TableColumn("WHEN", lambda run: times.format_relative(run.end_time, now)),
        TableColumn("MESSAGE", lambda run: run.error_message, flexible=True),
    ]
