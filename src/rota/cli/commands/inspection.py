"""`rota audit|stats|whoami|why|predict`: read-only commands."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from cyclopts import Parameter

from rota.cli import name_resolution, times
from rota.cli.api_options import (
    DEFAULT_API_OPTIONS,
    ApiOptions,
    print_json,
    print_lines,
    print_warnings,
)
from rota.cli.errors import UsageError
from rota.cli.pagination import DEFAULT_LIMIT, ListLimit, drop_empty, list_rows, print_more_hint
from rota.cli.tables import TableColumn, detect_screen, render_table
from rota.cli.tracebacks import render_traceback

# Statuses of a run after a failed attempt.
WITH_TRACEBACK: Final = frozenset({"dead", "retrying"})
SPARKLINE_LEVELS: Final = "▁▂▃▄▅▆▇█"


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilters:
    """Filters that select audit entries.

    Parameters
    ----------
    thing
        Filter by type of the changed resource: job, run, key and so on. Default: any.
    thing_id
        Filter by id or name of the changed resource. Default: any.
    actor
        Filter by actor. Default: any.
    action
        Filter by action, such as job.pause. Default: any.
    since
        At or after this time: a timestamp, or how long ago, such as 2h. Default: any.
    until
        Before this time: a timestamp, or how long ago. Default: any.
    """

    thing: str | None = None
    thing_id: str | None = None
    actor: str | None = None
    action: str | None = None
    since: str | None = None
    until: str | None = None


ANY_ENTRY: Final = AuditFilters()


def audit(
    *,
    selection: AuditFilters = ANY_ENTRY,
    row_limit: ListLimit = DEFAULT_LIMIT,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Show the audit log, newest first. Reads are logged too."""
    with api_options.open_client() as client:
        found = list_rows(
            client.list_audit,
            row_limit=row_limit,
            thing=selection.thing,
            thing_id=selection.thing_id,
            actor=selection.actor,
            action=selection.action,
            since=times.parse_time(selection.since, field="--since"),
            until=times.parse_time(selection.until, field="--until"),
        )
    columns: list[TableColumn[Any]] = [
        TableColumn("AT", lambda each: each.at),
        TableColumn("ACTOR", lambda each: each.actor, flexible=True),
        TableColumn("ADDRESS", lambda each: each.source),
        TableColumn("ACTION", lambda each: each.action),
        TableColumn("TARGET", lambda each: each.thing_id, flexible=True),
        TableColumn("CHANGE", lambda each: each.after, flexible=True),
    ]
    api_options.print_rows(found.rows, columns, ids="id", empty="No matching entries")
    print_more_hint(found, api_options)
    return 0


def stats(
    *,
    since: str | None = None,
    series: Literal["hour", "day", "month"] | None = None,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Show statistics: outcomes, waits, durations, waiting runs and late ticks.

    Parameters
    ----------
    since
        Start: a time, or how long ago, such as 30m; at most a month. Default: 1h.
    series
        Show a time series: the last hour by minutes, day by hours, or month by days.
        Default: totals.
    """
    if api_options.quiet:
        raise UsageError("--quiet is not supported: statistics have no ids")
    with api_options.open_client() as client:
        if series is not None:
            if since is not None:
                raise UsageError("--since and --series exclude each other")
            print_series(client.get_series(span=series), api_options)
            return 0
        found = client.get_statistics(**drop_empty(since=times.parse_time(since, field="--since")))
    if api_options.as_json:
        print_json(found)
        return 0
    api_options.print_record(found, describe_statistics(found), ids="since")
    if found.queues:
        print()
        columns: list[TableColumn[Any]] = [
            TableColumn("QUEUE", lambda each: each.queue, flexible=True),
            TableColumn("WAITING", lambda each: each.waiting, right=True),
            TableColumn(
                "OLDEST", lambda each: times.format_seconds(each.oldest_wait_s), right=True
            ),
        ]
        print_lines(render_table(columns, found.queues, detect_screen()))
    return 0


def describe_statistics(found: Any) -> Iterator[tuple[str, object]]:
    about = "about " if found.is_estimate else ""
    yield "since", found.since
    yield "runs", about + ", ".join(f"{number} {state}" for state, number in found.runs.items())
    yield "failed", None if found.failure_rate is None else f"{found.failure_rate:.1%}"
    yield "rate", f"{found.runs_per_second:.3g} runs per second"
    yield "wait", format_percentiles(found.wait_p50_s, found.wait_p99_s)
    yield "duration", format_percentiles(found.duration_p50_s, found.duration_p99_s)
    late = f"{found.late_ticks}, by up to {times.format_seconds(found.latest_tick_by_s)}"
    yield "late ticks", late if found.late_ticks else "none"


def format_percentiles(p50: float | None, p99: float | None) -> str | None:
    if p50 is None:
        return None
    return f"p50 {times.format_seconds(p50)}, p99 {times.format_seconds(p99)}"


def print_series(found: Any, api_options: ApiOptions) -> None:
    if api_options.as_json:
        print_json(found)
        return
    columns: list[TableColumn[Any]] = [
        TableColumn("FROM", lambda each: each.start),
        TableColumn("RUNS", lambda each: sum(each.runs.values()), right=True),
        TableColumn("SUCCEEDED", lambda each: each.runs.get("succeeded", 0), right=True),
        TableColumn("DEAD", lambda each: each.runs.get("dead", 0), right=True),
        TableColumn("WAIT P50", lambda each: times.format_seconds(each.wait_p50_s), right=True),
        TableColumn("WAIT P99", lambda each: times.format_seconds(each.wait_p99_s), right=True),
        TableColumn(
            "MEAN DURATION", lambda each: times.format_seconds(each.mean_duration_s), right=True
        ),
    ]
    print_lines(render_table(columns, found.buckets, detect_screen()))
    print(f"\n{draw_sparkline([sum(each.runs.values()) for each in found.buckets])}")


def draw_sparkline(numbers: list[int]) -> str:
    """Return one character per number, scaled to the highest."""
    peak = max(numbers, default=0)
    if not peak:
        return SPARKLINE_LEVELS[0] * len(numbers)
    return "".join(
        SPARKLINE_LEVELS[round(number / peak * (len(SPARKLINE_LEVELS) - 1))] for number in numbers
    )


def whoami(*, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Show the current key, tenant, role and expiry."""
    with api_options.open_client() as client:
        found = client.get_whoami()
    facts: list[tuple[str, object]] = [
        ("key", found.name),
        ("id", found.key_id),
        ("tenant", found.tenant),
        ("role", found.role),
        ("user", found.user_id),
        ("expires", found.expires_at),
    ]
    api_options.print_record(found, facts, ids="key_id")
    if api_options.is_plain and found.warning is not None:
        print_warnings([found.warning])
    return 0


def why(run: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Explain in one sentence why a run waits, or how it ended.

    A second line predicts when an unfinished run will finish, if its job has enough history.
    If the last attempt raised an exception, the traceback follows, your own frames first.

    Parameters
    ----------
    run
        Run id or unique prefix; or the id of a job or a one-time submission.
    """
    with api_options.open_client() as client:
        if name_resolution.JOB_ID.fullmatch(run):
            state = client.get_job_status(run)
            text = join_sentences(state.explanation, state.prediction)
            api_options.print_result(state, text, id_=state.status)
            return 0
        found = client.explain_run(name_resolution.resolve_run_id(client, run))
        attempts = []
        if api_options.is_plain and found.status in WITH_TRACEBACK:
            attempts = client.list_attempts(found.run_id).items
    text = join_sentences(found.sentence, found.prediction)
    api_options.print_result(found, text, id_=found.code)
    if attempts:
        print_lines(render_traceback(attempts[-1].traceback, found.run_id))
    return 0


def predict(
    subject: str, /, *, by: str | None = None, api_options: ApiOptions = DEFAULT_API_OPTIONS
) -> int:
    """Predict when the next or current run of a job will finish, from its own history.

    Parameters
    ----------
    subject
        Job name or id, or the id of an unfinished run.
    by
        Deadline: a time of day in the job's zone, such as 06:00, or a duration after the tick, such
        as +3h30m. Default: `expect.finish_by` of the job.
    """
    with api_options.open_client() as client:
        if subject.startswith("run_"):
            found = client.predict_run_finish(subject, **drop_empty(by=by))
        else:
            job_id = name_resolution.resolve_job_id(client, subject)
            found = client.predict_job_finish(job_id, **drop_empty(by=by))
    api_options.print_result(found, found.sentence, id_=found.expected_at or "")
    return 0


def join_sentences(sentence: str, prediction: str | None) -> str:
    return sentence if prediction is None else f"{sentence}\n{prediction}"
