"""`rota events`: what happened elsewhere, and what it came to. Room: cli."""

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

app = App(name="events", help="Events from outside: send, list, look at, replay.")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What one event may say, beside its type and its data.

    Parameters
    ----------
    source
        Where it comes from (default: api).
    id_
        Its id: the same source and id again are the same event, and make nothing.
    subject
        What it is about.
    """

    source: str | None = None
    id_: Annotated[str | None, Parameter(name="--id")] = None
    subject: str | None = None


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Which events.

    Parameters
    ----------
    type_
        Those of this type.
    source
        Those from this source.
    since
        Those that arrived since: a time, or how long ago.
    until
        Those that arrived before: a time, or how long ago.
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
    """Hand in an event: it becomes a run of every job that waits for it.

    Parameters
    ----------
    type_
        Its type, as in order.paid.
    data
        What else there is to say: JSON, @file or - for standard input.
    batch
        Several events instead: a JSON array, @file or - for standard input.
    """
    if (type_ is None) == (batch is None):
        raise Misused("either a type, as in order.paid, or --batch")
    with talk.open() as client:
        if batch is not None:
            done = client.send_events(events=several(batch))
        else:
            fields = said(source=about.source, id=about.id_, subject=about.subject)
            given = {} if data is None else {"data": json_of(data, field="data")}
            done = client.send_events(type=str(type_), **fields, **given)
    runs = sum(len(each.run_ids) for each in done.events)
    told = f"{plural(done.taken, 'event')} taken, {plural(runs, 'run')}"
    if done.duplicates:
        told += f"; {done.duplicates} came before"
    ids = "\n".join(each.event_id for each in done.events)
    talk.done(done, told if len(done.events) > 1 else f"{ids}: {told}", id_=ids)
    return 0


def several(text: str) -> list[Any]:
    found = json_of(text, field="--batch")
    if not isinstance(found, list):
        raise InvalidInput("--batch", text, "a JSON array of events is needed")
    return found


def plural(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


@app.command(name="list")
def list_events(*, which: Which = ANY, most: Most = SOME, talk: Talk = TALK) -> int:
    """List events that arrived, the newest first."""
    with talk.open() as client:
        found = gather(client.list_events, most=most, **which.filters())
    now = times.now()
    columns: list[Column[Any]] = [
        Column("ARRIVED", lambda event: times.ago(event.received_at, now)),
        Column("TYPE", lambda event: event.type, flexible=True),
        Column("SOURCE", lambda event: event.source, flexible=True),
        Column("SUBJECT", lambda event: event.subject, flexible=True),
        Column("RUNS", runs_of, right=True),
        Column("ID", lambda event: event.event_id),
    ]
    talk.rows(found.rows, columns, ids="event_id", empty="there are no events")
    tell_more(found, talk)
    return 0


def runs_of(event: Any) -> int:
    return sum(each.run_id is not None for each in event.matches)


@app.command
def show(event: str, /, *, talk: Talk = TALK) -> int:
    """Show an event and what it came to: each job that waits for its type, and why it did not run.

    Parameters
    ----------
    event
        Its id, as evt_ and 32 hex digits.
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
            ("happened", times.at(found.time, now)),
            ("arrived", times.at(found.received_at, now)),
            ("data", found.data),
            *((f"of {name}", value) for name, value in found.attributes.items()),
            *((each.job_name or each.job_id, told(each)) for each in found.matches),
        ],
        ids="event_id",
    )
    return 0


def told(match: Any) -> str:
    """What an event was for a job, in a line."""
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
    """Match events again with the jobs as they are now; their runs are new ones.

    Parameters
    ----------
    job
        Ask this job only: its name or its id.
    dry_run
        Only say how many there are.
    yes
        Do not ask.
    """
    with talk.open() as client:
        filters = which.filters()
        if job is not None:
            filters["job_id"] = naming.job_id(client, job)
        if not filters:
            raise Misused("which events? Say some of --type, --source, --since, --until, --job")
        counted = client.replay_events(filter=filters, dry_run=True)
        many = plural(counted.matched, "event")
        if dry_run or not counted.matched:
            talk.done(counted, f"{many} would be matched again", id_=counted.matched)
            return 0
        if not confirm(f"Match {many} again?", yes=yes):
            return 1
        done = client.replay_events(filter=filters, token=counted.token)
    sentence = f"{plural(done.done, 'event')} matched again, {plural(done.runs, 'run')} made"
    talk.done(done, sentence, id_=done.runs)
    return 0
