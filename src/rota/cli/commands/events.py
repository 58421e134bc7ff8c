"""`rota events`: sends, lists and replays external events."""

from dataclasses import dataclass
from typing import Annotated, Any, Final

from cyclopts import App, Parameter

from rota.cli import naming, times
from rota.cli.asking import confirm
from rota.cli.errors import Misused
from rota.cli.listing import SOME, Most, gather, said, tell_more
from rota.cli.options import TALK, YES, Talk
from rota.cli.reading import json_of
from rota.cli.tables import Column
from rota.core.errors import InvalidInput

app = App(name="events", help="External events: send, list, show, replay.")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Optional attributes of an event.

    Parameters
    ----------
    source
        Source of the event. Default: api.
    id_
        Event id. An event with a known source and id is a duplicate and starts nothing.
        Default: a new id.
    subject
        Subject of the event. Default: none.
    """

    source: str | None = None
    id_: Annotated[str | None, Parameter(name="--id")] = None
    subject: str | None = None


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Filters that select events.

    Parameters
    ----------
    type_
        Filter by type. Default: any.
    source
        Filter by source. Default: any.
    since
        Received at or after this time: a timestamp, or how long ago. Default: any.
    until
        Received before this time: a timestamp, or how long ago. Default: any.
    """

    type_: Annotated[str | None, Parameter(name="--type")] = None
    source: str | None = None
    since: str | None = None
    until: str | None = None

    def filters(self) -> dict[str, Any]:
        return said(
            type=self.type_,
            source=self.source,
            since=times.instant(self.since, field="--since"),
            until=times.instant(self.until, field="--until"),
        )


NOTHING: Final = About()
ANY: Final = Which()


@app.command
def send(
    type_: Annotated[str | None, Parameter(name="type")] = None,
    data: str | None = None,
    /,
    *,
    about: About = NOTHING,
    batch: str | None = None,
    talk: Talk = TALK,
) -> int:
    """Send an event. It starts a run of every job that waits for it.

    Parameters
    ----------
    type_
        Event type, such as order.paid.
    data
        Event data: JSON, @file, or - for standard input. Default: null.
    batch
        Send several events: a JSON array, @file, or - for standard input.
    """
    if (type_ is None) == (batch is None):
        raise Misused("give either an event type, such as order.paid, or --batch")
    with talk.open() as client:
        if batch is not None:
            done = client.send_events(events=several(batch))
        else:
            fields = said(source=about.source, id=about.id_, subject=about.subject)
            given = {} if data is None else {"data": json_of(data, field="data")}
            done = client.send_events(type=str(type_), **fields, **given)
    runs = sum(len(each.run_ids) for each in done.events)
    summary = f"{plural(done.taken, 'event')} accepted, {plural(runs, 'run')} created"
    if done.duplicates:
        summary += f"; {plural(done.duplicates, 'duplicate')} ignored"
    ids = "\n".join(each.event_id for each in done.events)
    talk.done(done, summary if len(done.events) > 1 else f"{ids}: {summary}", id_=ids)
    return 0


def several(text: str) -> list[Any]:
    found = json_of(text, field="--batch")
    if not isinstance(found, list):
        raise InvalidInput("--batch", text, "expected a JSON array of events")
    return found


def plural(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


@app.command(name="list")
def list_events(*, which: Which = ANY, most: Most = SOME, talk: Talk = TALK) -> int:
    """List received events, newest first."""
    with talk.open() as client:
        found = gather(client.list_events, most=most, **which.filters())
    now = times.now()
    columns: list[Column[Any]] = [
        Column("RECEIVED", lambda event: times.ago(event.received_at, now)),
        Column("TYPE", lambda event: event.type, flexible=True),
        Column("SOURCE", lambda event: event.source, flexible=True),
        Column("SUBJECT", lambda event: event.subject, flexible=True),
        Column("RUNS", runs_of, right=True),
        Column("ID", lambda event: event.event_id),
    ]
    talk.rows(found.rows, columns, ids="event_id", empty="No matching events")
    tell_more(found, talk)
    return 0


def runs_of(event: Any) -> int:
    return sum(each.run_id is not None for each in event.matches)


@app.command
def show(event: str, /, *, talk: Talk = TALK) -> int:
    """Show an event and the jobs that it matched, with their runs or the reason for no run.

    Parameters
    ----------
    event
        Event id: evt_ and 32 hex digits.
    """
    with talk.open() as client:
        found = client.get_event(event)
    now = times.now()
    talk.thing(
        found,
        [
            ("event", found.event_id),
            ("type", found.type),
            ("source", found.source),
            ("id", found.id),
            ("subject", found.subject),
            ("occurred", times.at(found.time, now)),
            ("received", times.at(found.received_at, now)),
            ("data", found.data),
            *((f"attribute {name}", value) for name, value in found.attributes.items()),
            *((each.job_name or each.job_id, told(each)) for each in found.matches),
        ],
        ids="event_id",
    )
    return 0


def told(match: Any) -> str:
    """Describe the outcome of an event for one job in a line."""
    words = [match.outcome]
    if match.run_id is not None:
        words.append(match.run_id)
    if match.why is not None:
        words.append(f"({match.why})")
    if match.replay is not None:
        words.append("replayed")
    return " ".join(words)


@app.command
def replay(
    *,
    which: Which = ANY,
    job: str | None = None,
    dry_run: Annotated[bool, Parameter(negative=())] = False,
    yes: Annotated[bool, YES] = False,
    talk: Talk = TALK,
) -> int:
    """Replay events: match them against the current jobs and create new runs.

    Parameters
    ----------
    job
        Match only this job, by name or id. Default: all jobs.
    dry_run
        Only count the events.
    yes
        Skip the confirmation.
    """
    with talk.open() as client:
        filters = which.filters()
        if job is not None:
            filters["job_id"] = naming.job_id(client, job)
        if not filters:
            raise Misused(
                "no events selected: give at least one of --type, --source, --since, --until, --job"
            )
        counted = client.replay_events(filter=filters, dry_run=True)
        many = plural(counted.matched, "event")
        if dry_run or not counted.matched:
            talk.done(counted, f"{many} would be replayed", id_=counted.matched)
            return 0
        if not confirm(f"Replay {many}?", yes=yes):
            return 1
        done = client.replay_events(filter=filters, token=counted.token)
    sentence = f"Replayed {plural(done.done, 'event')}; {plural(done.runs, 'run')} created"
    talk.done(done, sentence, id_=done.runs)
    return 0
