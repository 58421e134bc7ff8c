"""`rota events`: sends, lists and replays external events."""

from dataclasses import dataclass
from typing import Annotated, Any, Final

from cyclopts import App, Parameter

from rota.cli import name_resolution, times
from rota.cli.api_options import DEFAULT_API_OPTIONS, YES_FLAG, ApiOptions
from rota.cli.argument_values import read_json
from rota.cli.errors import UsageError
from rota.cli.pagination import DEFAULT_LIMIT, ListLimit, drop_empty, list_rows, print_more_hint
from rota.cli.prompts import confirm
from rota.cli.tables import TableColumn
from rota.core.errors import InvalidInput

app = App(name="events", help="External events: send, list, show, replay.")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class EventSendOptions:
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
class EventFilters:
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

    def build_filters(self) -> dict[str, Any]:
        return drop_empty(
            type=self.type_,
            source=self.source,
            since=times.parse_time(self.since, field="--since"),
            until=times.parse_time(self.until, field="--until"),
        )


NO_SEND_OPTIONS: Final = EventSendOptions()
ANY_EVENT: Final = EventFilters()


@app.command
def send(
    type_: Annotated[str | None, Parameter(name="type")] = None,
    data: str | None = None,
    /,
    *,
    send_options: EventSendOptions = NO_SEND_OPTIONS,
    batch: str | None = None,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
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
        raise UsageError("give either an event type, such as order.paid, or --batch")
    with api_options.open_client() as client:
        if batch is not None:
            done = client.send_events(events=read_batch(batch))
        else:
            fields = drop_empty(
                source=send_options.source, id=send_options.id_, subject=send_options.subject
            )
            given = {} if data is None else {"data": read_json(data, field="data")}
            done = client.send_events(type=str(type_), **fields, **given)
    runs = sum(len(each.run_ids) for each in done.events)
    summary = f"{format_count(done.taken, 'event')} accepted, {format_count(runs, 'run')} created"
    if done.duplicates:
        summary += f"; {format_count(done.duplicates, 'duplicate')} ignored"
    ids = "\n".join(each.event_id for each in done.events)
    api_options.print_result(
        done, summary if len(done.events) > 1 else f"{ids}: {summary}", id_=ids
    )
    return 0


def read_batch(text: str) -> list[Any]:
    found = read_json(text, field="--batch")
    if not isinstance(found, list):
        raise InvalidInput("--batch", text, "expected a JSON array of events")
    return found


def format_count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


@app.command(name="list")
def list_events(
    *,
    selection: EventFilters = ANY_EVENT,
    row_limit: ListLimit = DEFAULT_LIMIT,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """List received events, newest first."""
    with api_options.open_client() as client:
        found = list_rows(client.list_events, row_limit=row_limit, **selection.build_filters())
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("RECEIVED", lambda event: times.format_relative(event.received_at, now)),
        TableColumn("TYPE", lambda event: event.type, flexible=True),
        TableColumn("SOURCE", lambda event: event.source, flexible=True),
        TableColumn("SUBJECT", lambda event: event.subject, flexible=True),
        TableColumn("RUNS", count_runs, right=True),
        TableColumn("ID", lambda event: event.event_id),
    ]
    api_options.print_rows(found.rows, columns, ids="event_id", empty="No matching events")
    print_more_hint(found, api_options)
    return 0


def count_runs(event: Any) -> int:
    return sum(each.run_id is not None for each in event.matches)


@app.command
def show(event: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Show an event and the jobs that it matched, with their runs or the reason for no run.

    Parameters
    ----------
    event
        Event id: evt_ and 32 hex digits.
    """
    with api_options.open_client() as client:
        found = client.get_event(event)
    now = times.now()
    api_options.print_record(
        found,
        [
            ("event", found.event_id),
            ("type", found.type),
            ("source", found.source),
            ("id", found.id),
            ("subject", found.subject),
            ("occurred", times.format_time(found.time, now)),
            ("received", times.format_time(found.received_at, now)),
            ("data", found.data),
            *((f"attribute {name}", value) for name, value in found.attributes.items()),
            *((each.job_name or each.job_id, describe_match(each)) for each in found.matches),
        ],
        ids="event_id",
    )
    return 0


def describe_match(match: Any) -> str:
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
    selection: EventFilters = ANY_EVENT,
    job: str | None = None,
    dry_run: Annotated[bool, Parameter(negative=())] = False,
    yes: Annotated[bool, YES_FLAG] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
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
    with api_options.open_client() as client:
        filters = selection.build_filters()
        if job is not None:
            filters["job_id"] = name_resolution.resolve_job_id(client, job)
        if not filters:
            raise UsageError(
                "no events selected: give at least one of --type, --source, --since, --until, --job"
            )
        counted = client.replay_events(filter=filters, dry_run=True)
        many = format_count(counted.matched, "event")
        if dry_run or not counted.matched:
            api_options.print_result(counted, f"{many} would be replayed", id_=counted.matched)
            return 0
        if not confirm(f"Replay {many}?", yes=yes):
            return 1
        done = client.replay_events(filter=filters, token=counted.token)
    sentence = (
        f"Replayed {format_count(done.done, 'event')}; {format_count(done.runs, 'run')} created"
    )
    api_options.print_result(done, sentence, id_=done.runs)
    return 0
