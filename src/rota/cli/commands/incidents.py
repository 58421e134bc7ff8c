"""`rota alerts list`, `show`, `ack`, `resolve`, `note`, `messages`, `channels` and `test`."""

import re
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from cyclopts import Parameter

from rota.cli import times
from rota.cli.api_options import DEFAULT_API_OPTIONS, ApiOptions, print_lines
from rota.cli.errors import UsageError
from rota.cli.name_resolution import resolve_job_id
from rota.cli.pagination import DEFAULT_LIMIT, ListLimit, drop_empty, list_rows, print_more_hint
from rota.cli.tables import TableColumn
from rota.core.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from rota.sdk.client import Client

IncidentStateName = Literal["open", "acknowledged", "resolved", "silenced", "all"]
SeverityChoice = Literal["info", "warning", "page"]
MessageStateName = Literal["pending", "sending", "sent", "failed", "suppressed", "digested"]

INCIDENT_ID: Final = re.compile(r"inc_[0-9a-f]{32}")
INCIDENT_ID_PREFIX: Final = re.compile(r"(?:inc_)?([0-9a-f]{4,32})")
# Open incidents that are searched for the beginning of an id or a name.
SEARCHED_MAX: Final = 1000
# How often and for how long `test` looks for the result.
TEST_POLL_INTERVAL_S: Final = 0.5
TEST_POLLS_MAX: Final = 60
DONE_STATES: Final = frozenset({"sent", "failed", "suppressed", "digested"})

Note = Annotated[str | None, Parameter(name=["--note", "-m"])]


def list_incidents(
    *,
    state: IncidentStateName | None = None,
    severity: SeverityChoice | None = None,
    job: str | None = None,
    row_limit: ListLimit = DEFAULT_LIMIT,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """List incidents, latest first.

    Parameters
    ----------
    state
        Show incidents in this state. Default: those that have not ended.
    severity
        Show incidents of this severity. Default: all.
    job
        Show incidents about this job (name or id). Default: all.
    """
    with api_options.open_client() as client:
        filters = drop_empty(
            severity=severity, job=None if job is None else resolve_job_id(client, job)
        )
        if state is not None:
            chosen = None if state == "all" else state
            found = list_rows(client.list_incidents, row_limit=row_limit, state=chosen, **filters)
            rows = found.rows
        else:
            lists = [
                list_rows(client.list_incidents, row_limit=row_limit, state=each, **filters)
                for each in ("open", "acknowledged", "silenced")
            ]
            found = next((each for each in lists if each.has_more), lists[0])
            unique = {row.incident_id: row for each in lists for row in each.rows}
            rows = sorted(unique.values(), key=lambda row: row.opened_at, reverse=True)
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("ID", lambda row: row.incident_id[:12]),
        TableColumn("STATE", format_state),
        TableColumn("SEVERITY", lambda row: row.severity),
        TableColumn("OPENED", lambda row: times.format_relative(row.opened_at, now)),
        TableColumn("COUNT", lambda row: str(row.count)),
        TableColumn("INCIDENT", lambda row: row.title, flexible=True),
    ]
    api_options.print_rows(rows, columns, ids="incident_id", empty="No incidents")
    print_more_hint(found, api_options)
    return 0


def format_state(incident: Any) -> str:
    """Return the state, and why no message is sent about it."""
    if incident.state != "resolved" and incident.silenced_until is not None:
        return "silenced"
    return "flapping" if incident.is_flapping else str(incident.state)


def show(incident: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Show an incident with its thread and messages.

    Parameters
    ----------
    incident
        Incident id, its first letters, or the name of its subject.
    """
    with api_options.open_client() as client:
        found = client.get_incident(resolve_incident_id(client, incident))
    now = times.now()
    facts = [
        ("id", found.incident_id),
        ("incident", found.title),
        ("state", format_state(found)),
        ("severity", found.severity),
        ("condition", found.condition),
        (found.subject.kind, found.subject.name),
        ("rule", found.expectation.name),
        ("run", found.run_id),
        ("opened", times.format_time(found.opened_at, now)),
        ("bad runs", found.count),
        ("acknowledged", times.format_time(found.acknowledged_at, now)),
        ("acknowledged by", found.acknowledged_by),
        ("silenced until", times.format_time(found.silenced_until, now)),
        ("explained by", found.inhibited_by),
        ("ended", times.format_time(found.resolved_at, now)),
        ("reason", found.resolution),
        *((name, value) for name, value in found.facts.items()),
    ]
    api_options.print_record(found, facts, ids="incident_id")
    if api_options.is_plain:
        print_thread(found, now)
    return 0


def print_thread(incident: Any, now: Any) -> None:
    """Print what happened to an incident and which messages were sent, in order."""
    entries = [
        (entry.at, f"{entry.type}{f' by {entry.by}' if entry.by else ''}: {entry.text or ''}")
        for entry in incident.thread or []
    ]
    entries += [
        (
            each.sent_at or each.created_at,
            f"message ({each.kind}) to {each.channel}: {each.error or each.state}",
        )
        for each in incident.notifications or []
    ]
    lines = (
        f"{times.format_relative(at, now)}  {text.rstrip(': ')}" for at, text in sorted(entries)
    )
    print_lines(["", *lines])


def ack(
    incident: str, /, *, comment: Note = None, api_options: ApiOptions = DEFAULT_API_OPTIONS
) -> int:
    """Acknowledge an incident: repeated messages and escalations stop.

    Parameters
    ----------
    incident
        Incident id, its first letters, or the name of its subject.
    comment
        Comment for the thread. Default: none.
    """
    with api_options.open_client() as client:
        done = client.acknowledge_incident(
            resolve_incident_id(client, incident), **drop_empty(note=comment)
        )
    api_options.print_result(done, f"Acknowledged: {done.title}", id_=done.incident_id)
    return 0


def resolve(
    incident: str, /, *, comment: Note = None, api_options: ApiOptions = DEFAULT_API_OPTIONS
) -> int:
    """End an incident by hand. The next violation opens a new one.

    Parameters
    ----------
    incident
        Incident id, its first letters, or the name of its subject.
    comment
        Comment for the thread. Default: none.
    """
    with api_options.open_client() as client:
        done = client.resolve_incident(
            resolve_incident_id(client, incident), **drop_empty(note=comment)
        )
    api_options.print_result(done, f"Resolved: {done.title}", id_=done.incident_id)
    return 0


def add_note(incident: str, text: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Add a note to the thread of an incident.

    Parameters
    ----------
    incident
        Incident id, its first letters, or the name of its subject.
    text
        The note.
    """
    with api_options.open_client() as client:
        done = client.add_incident_note(resolve_incident_id(client, incident), text=text)
    api_options.print_result(done, f"Added a note to: {done.title}", id_=done.incident_id)
    return 0


def list_messages(
    *,
    channel: str | None = None,
    state: MessageStateName | None = None,
    row_limit: ListLimit = DEFAULT_LIMIT,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """List messages about incidents, latest first.

    Parameters
    ----------
    channel
        Show messages to this channel. Default: all.
    state
        Show messages in this state. Default: all.
    """
    with api_options.open_client() as client:
        found = list_rows(
            client.list_notifications, row_limit=row_limit, channel=channel, state=state
        )
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("PLANNED", lambda row: times.format_relative(row.created_at, now)),
        TableColumn("CHANNEL", lambda row: row.channel),
        TableColumn("KIND", lambda row: row.kind),
        TableColumn("STATE", lambda row: row.state),
        TableColumn("TRIES", lambda row: str(row.attempts)),
        TableColumn("MESSAGE", lambda row: row.title or "", flexible=True),
        TableColumn("ERROR", lambda row: row.error or "", flexible=True),
    ]
    api_options.print_rows(found.rows, columns, ids="notification_id", empty="No messages")
    print_more_hint(found, api_options)
    return 0


def list_channels(*, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """List the channels of alerts and whether they work."""
    with api_options.open_client() as client:
        rows = client.list_channels().items
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("NAME", lambda row: row.name, flexible=True),
        TableColumn("KIND", lambda row: row.kind),
        TableColumn("DEFAULT", lambda row: "yes" if row.is_default else "no"),
        TableColumn("HEALTH", lambda row: row.health),
        TableColumn("LAST SENT", lambda row: times.format_relative(row.last_sent_at, now)),
        TableColumn("ERROR", lambda row: row.last_error or "", flexible=True),
    ]
    api_options.print_rows(rows, columns, ids="name", empty="No channels")
    return 0


def send_test(channel: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Send a test message to a channel and wait for the result.

    Parameters
    ----------
    channel
        Name of the channel.
    """
    rest = Event()
    with api_options.open_client() as client:
        sent = client.send_test_message(channel)
        for _ in range(TEST_POLLS_MAX):
            if sent.state in DONE_STATES or sent.error is not None:
                break
            rest.wait(TEST_POLL_INTERVAL_S)
            sent = client.get_notification(sent.notification_id)
    if sent.state == "sent":
        api_options.print_result(sent, f"Sent to {channel}", id_=sent.notification_id)
        return 0
    reason = sent.error or "no process with this channel sent it yet; start a scheduler that has it"
    api_options.print_result(sent, f"Not sent to {channel}: {reason}", id_=sent.notification_id)
    return 1


def resolve_incident_id(client: "Client", text: str) -> str:
    """Return the id of an incident, given its id, its beginning, or the name of its subject."""
    if INCIDENT_ID.fullmatch(text):
        return text
    if not text:
        raise InvalidInput("incident", text, "expected an incident id or the name of its subject")
    prefix = INCIDENT_ID_PREFIX.fullmatch(text)
    found: set[str] = set()
    for state in ("open", "acknowledged", "silenced", "resolved"):
        rows = list_rows(
            client.list_incidents, row_limit=ListLimit(limit=SEARCHED_MAX), state=state
        ).rows
        found |= {
            str(row.incident_id)
            for row in rows
            if (prefix is not None and row.incident_id.startswith(f"inc_{prefix[1]}"))
            or (state != "resolved" and row.subject.name == text)
        }
    if len(found) == 1:
        return found.pop()
    if found:
        shown = ", ".join(sorted(found)[:3])
        raise UsageError(f"several incidents match {text!r}: {shown}; give more of the id")
    raise NotFound("incident", text)
