"""`rota audit|stats|whoami|metrics|why`: read-only commands."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from cyclopts import Parameter

from rota.cli import naming, times
from rota.cli.errors import Misused
from rota.cli.listing import SOME, Most, gather, said, tell_more
from rota.cli.options import TALK, Talk, warn, write, write_json
from rota.cli.tables import Column, screen_of, table
from rota.cli.tracebacks import traceback_lines

# Statuses of a run after a failed attempt.
WITH_TRACEBACK: Final = frozenset({"dead", "retrying"})
LEVELS: Final = "▁▂▃▄▅▆▇█"


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
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


ANY: Final = Which()


def audit(*, which: Which = ANY, most: Most = SOME, talk: Talk = TALK) -> int:
    """Show the audit log, newest first. Reads are logged too."""
    with talk.open() as client:
        found = gather(
            client.list_audit,
            most=most,
            thing=which.thing,
            thing_id=which.thing_id,
            actor=which.actor,
            action=which.action,
            since=times.instant(which.since, field="--since"),
            until=times.instant(which.until, field="--until"),
        )
    columns: list[Column[Any]] = [
        Column("AT", lambda each: each.at),
        Column("ACTOR", lambda each: each.actor, flexible=True),
        Column("ADDRESS", lambda each: each.source),
        Column("ACTION", lambda each: each.action),
        Column("TARGET", lambda each: each.thing_id, flexible=True),
        Column("CHANGE", lambda each: each.after, flexible=True),
    ]
    talk.rows(found.rows, columns, ids="id", empty="No matching entries")
    tell_more(found, talk)
    return 0


def stats(
    *,
    since: str | None = None,
    series: Literal["hour", "day", "month"] | None = None,
    talk: Talk = TALK,
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
    if talk.quiet:
        raise Misused("--quiet is not supported: statistics have no ids")
    with talk.open() as client:
        if series is not None:
            if since is not None:
                raise Misused("--since and --series exclude each other")
            show_series(client.get_series(span=series), talk)
            return 0
        found = client.get_statistics(**said(since=times.instant(since, field="--since")))
    if talk.as_json:
        write_json(found)
        return 0
    talk.thing(found, figures(found), ids="since")
    if found.queues:
        print()
        columns: list[Column[Any]] = [
            Column("QUEUE", lambda each: each.queue, flexible=True),
            Column("WAITING", lambda each: each.waiting, right=True),
            Column("OLDEST", lambda each: times.lasted(each.oldest_wait_s), right=True),
        ]
        write(table(columns, found.queues, screen_of()))
    return 0


def figures(found: Any) -> Iterator[tuple[str, object]]:
    about = "about " if found.is_estimate else ""
    yield "since", found.since
    yield "runs", about + ", ".join(f"{number} {state}" for state, number in found.runs.items())
    yield "failed", None if found.failure_rate is None else f"{found.failure_rate:.1%}"
    yield "rate", f"{found.runs_per_second:.3g} runs per second"
    yield "wait", half_and_most(found.wait_p50_s, found.wait_p99_s)
    yield "duration", half_and_most(found.duration_p50_s, found.duration_p99_s)
    late = f"{found.late_ticks}, by up to {times.lasted(found.latest_tick_by_s)}"
    yield "late ticks", late if found.late_ticks else "none"


def half_and_most(half: float | None, most: float | None) -> str | None:
    if half is None:
        return None
    return f"p50 {times.lasted(half)}, p99 {times.lasted(most)}"


def show_series(found: Any, talk: Talk) -> None:
    if talk.as_json:
        write_json(found)
        return
    columns: list[Column[Any]] = [
        Column("FROM", lambda each: each.start),
        Column("RUNS", lambda each: sum(each.runs.values()), right=True),
        Column("SUCCEEDED", lambda each: each.runs.get("succeeded", 0), right=True),
        Column("DEAD", lambda each: each.runs.get("dead", 0), right=True),
        Column("WAIT P50", lambda each: times.lasted(each.wait_p50_s), right=True),
        Column("WAIT P99", lambda each: times.lasted(each.wait_p99_s), right=True),
        Column("MEAN DURATION", lambda each: times.lasted(each.mean_duration_s), right=True),
    ]
    write(table(columns, found.buckets, screen_of()))
    print(f"\n{sparkline([sum(each.runs.values()) for each in found.buckets])}")


def sparkline(numbers: list[int]) -> str:
    """Return one character per number, scaled to the highest."""
    peak = max(numbers, default=0)
    if not peak:
        return LEVELS[0] * len(numbers)
    return "".join(LEVELS[round(number / peak * (len(LEVELS) - 1))] for number in numbers)


def whoami(*, talk: Talk = TALK) -> int:
    """Show the current key, tenant, role and expiry."""
    with talk.open() as client:
        found = client.get_whoami()
    facts: list[tuple[str, object]] = [
        ("key", found.name),
        ("id", found.key_id),
        ("tenant", found.tenant),
        ("role", found.role),
        ("user", found.user_id),
        ("expires", found.expires_at),
    ]
    talk.thing(found, facts, ids="key_id")
    if talk.is_plain and found.warning is not None:
        warn([found.warning])
    return 0


def metrics(*, talk: Talk = TALK) -> int:
    """Print metrics in the text format of Prometheus."""
    if not talk.is_plain:
        raise Misused("--json and --quiet are not supported: metrics are plain text")
    with talk.open() as client:
        print(client.get_metrics(), end="")
    return 0


def why(run: str, /, *, talk: Talk = TALK) -> int:
    """Explain in one sentence why a run waits, or how it ended.

    If the last attempt raised an exception, the traceback follows, your own frames first.

    Parameters
    ----------
    run
        Run id or unique prefix; or the id of a job or a one-time submission.
    """
    with talk.open() as client:
        if naming.JOB.fullmatch(run):
            state = client.get_job_status(run)
            talk.done(state, state.explanation, id_=state.status)
            return 0
        found = client.explain_run(naming.run_id(client, run))
        attempts = []
        if talk.is_plain and found.status in WITH_TRACEBACK:
            attempts = client.list_attempts(found.run_id).items
    talk.done(found, found.sentence, id_=found.code)
    if attempts:
        write(traceback_lines(attempts[-1].traceback, found.run_id))
    return 0
