"""`rota audit|stats|whoami|metrics|why`: looking, and nothing else. Room: cli."""

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

# What a run is after an attempt that failed.
WITH_TRACEBACK: Final = frozenset({"dead", "retrying"})
LEVELS: Final = "▁▂▃▄▅▆▇█"


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Which changes.

    Parameters
    ----------
    thing
        What was changed: job, run, key and so on.
    thing_id
        The id or the name of what was changed.
    actor
        Who changed it.
    action
        How, as in job.pause.
    since
        Since: a time, or how long ago, as in 2h.
    until
        Before: a time, or how long ago.
    """

    thing: str | None = None
    thing_id: str | None = None
    actor: str | None = None
    action: str | None = None
    since: str | None = None
    until: str | None = None


ANY: Final = Which()


def audit(*, which: Which = ANY, most: Most = SOME, talk: Talk = TALK) -> int:
    """List who changed what, the latest first. That you looked is written down as well."""
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
        Column("WHO", lambda each: each.actor, flexible=True),
        Column("FROM", lambda each: each.source),
        Column("DID", lambda each: each.action),
        Column("TO", lambda each: each.thing_id, flexible=True),
        Column("CHANGE", lambda each: each.after, flexible=True),
    ]
    talk.rows(found.rows, columns, ids="id", empty="there are no such changes")
    tell_more(found, talk)
    return 0


def stats(
    *,
    since: str | None = None,
    series: Literal["hour", "day", "month"] | None = None,
    talk: Talk = TALK,
) -> int:
    """Show how it goes: runs by outcome, waits and durations, what waits now, what is late.

    Parameters
    ----------
    since
        Since: a time, or how long ago, as in 30m (default: an hour, a month at most).
    series
        Instead, over time: the last hour by minutes, day by hours, or month by days.
    """
    if talk.quiet:
        raise Misused("figures have no ids: --quiet means nothing here")
    with talk.open() as client:
        if series is not None:
            if since is not None:
                raise Misused("either --since or --series, not both")
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
    yield "pace", f"{found.runs_per_second:.3g} runs a second"
    yield "wait", half_and_most(found.wait_p50_s, found.wait_p99_s)
    yield "duration", half_and_most(found.duration_p50_s, found.duration_p99_s)
    late = f"{found.late_ticks}, the latest by {times.lasted(found.latest_tick_by_s)}"
    yield "late ticks", late if found.late_ticks else "none"


def half_and_most(half: float | None, most: float | None) -> str | None:
    if half is None:
        return None
    return f"half below {times.lasted(half)}, 99 of 100 below {times.lasted(most)}"


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
        Column("P99", lambda each: times.lasted(each.wait_p99_s), right=True),
        Column("TOOK", lambda each: times.lasted(each.mean_duration_s), right=True),
    ]
    write(table(columns, found.buckets, screen_of()))
    print(f"\n{sparkline([sum(each.runs.values()) for each in found.buckets])}")


def sparkline(numbers: list[int]) -> str:
    """One character a number; the highest is full."""
    most = max(numbers, default=0)
    if not most:
        return LEVELS[0] * len(numbers)
    return "".join(LEVELS[round(number / most * (len(LEVELS) - 1))] for number in numbers)


def whoami(*, talk: Talk = TALK) -> int:
    """Say whose key this is and what it may do."""
    with talk.open() as client:
        found = client.get_whoami()
    told: list[tuple[str, object]] = [
        ("key", found.name),
        ("id", found.key_id),
        ("tenant", found.tenant),
        ("role", found.role),
        ("user", found.user_id),
        ("expires", found.expires_at),
    ]
    talk.thing(found, told, ids="key_id")
    if talk.is_plain and found.warning is not None:
        warn([found.warning])
    return 0


def metrics(*, talk: Talk = TALK) -> int:
    """Print the figures for Prometheus."""
    if not talk.is_plain:
        raise Misused("metrics are plain text, without --json and --quiet")
    with talk.open() as client:
        print(client.get_metrics(), end="")
    return 0


def why(run: str, /, *, talk: Talk = TALK) -> int:
    """Say why a run waits, or what became of it, in one sentence.

    If its last attempt raised an exception, the traceback follows, your own frames first.

    Parameters
    ----------
    run
        Its id, or the beginning of it; or the id of a job or of a one-time submission.
    """
    with talk.open() as client:
        if naming.JOB.fullmatch(run):
            stands = client.get_job_status(run)
            talk.done(stands, stands.explanation, id_=stands.status)
            return 0
        found = client.explain_run(naming.run_id(client, run))
        attempts = []
        if talk.is_plain and found.status in WITH_TRACEBACK:
            attempts = client.list_attempts(found.run_id).items
    talk.done(found, found.sentence, id_=found.code)
    if attempts:
        write(traceback_lines(attempts[-1].traceback, found.run_id))
    return 0
