"""`rota silence`: holds back messages about incidents for a while."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import App, Parameter

from rota.cli import times
from rota.cli.api_options import DEFAULT_API_OPTIONS, REPEATABLE, SWITCH, ApiOptions
from rota.cli.argument_values import parse_labels
from rota.cli.errors import UsageError
from rota.cli.pagination import DEFAULT_LIMIT, ListLimit, drop_empty, list_rows, print_more_hint
from rota.cli.tables import TableColumn
from rota.core.errors import NotFound

if TYPE_CHECKING:
    from rota.sdk.client import Client

app = App(name="silence", help="Silence incidents: create, list, end.")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class SilenceMatch:
    """What a silence applies to.

    Parameters
    ----------
    job
        Job name; * stands for any characters. Default: any.
    step
        Step name; * stands for any characters. Default: any, and the job itself.
    task
        Task name; * stands for any characters. Default: any.
    queue
        Queue name; * stands for any characters. Default: any.
    label
        Label of the job, such as app=shop (repeatable). Default: any.
    everything
        Silence everything of the tenant.
    """

    job: str | None = None
    step: str | None = None
    task: str | None = None
    queue: str | None = None
    label: Annotated[list[str] | None, REPEATABLE] = None
    everything: Annotated[bool, SWITCH] = False

    def build_match(self) -> dict[str, Any]:
        match = drop_empty(
            job=self.job,
            step=self.step,
            task=self.task,
            queue=self.queue,
            labels=parse_labels(self.label),
        )
        if not match and not self.everything:
            raise UsageError("give --job, --step, --task, --queue or --label, or --everything")
        return match


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class SilenceTime:
    """When a silence holds.

    Parameters
    ----------
    duration
        How long, such as 20m; at most 30 days. Required, or --until or --calendar.
    until
        End of the silence, such as 2026-07-01T12:00:00Z. Default: --for after its start.
    start
        Start of the silence. Default: now.
    calendar
        Silence in the windows of this calendar, until the silence is ended. Default: none.
    """

    duration: Annotated[str | None, Parameter(name="--for")] = None
    until: str | None = None
    start: str | None = None
    calendar: str | None = None


NO_MATCH: Final = SilenceMatch()
NO_TIME: Final = SilenceTime()


@app.default
def create(
    *,
    reason: str | None = None,
    time: SilenceTime = NO_TIME,
    match: SilenceMatch = NO_MATCH,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Silence incidents: checks go on, messages wait.

    Parameters
    ----------
    reason
        Why, for the others. Required.
    """
    wanted = match.build_match()
    if reason is None:
        raise UsageError("give --reason, such as --reason deploy")
    with api_options.open_client() as client:
        made = client.create_silence(
            reason=reason,
            match=wanted,
            **drop_empty(
                duration=time.duration,
                ends_at=time.until,
                starts_at=time.start,
                calendar=time.calendar,
            ),
        )
    now = times.now()
    forever = f"it is ended, in the windows of calendar {made.calendar}"
    end = times.format_time(made.ends_at, now) or forever
    api_options.print_result(made, f"Silenced until {end}", id_=made.silence_id)
    return 0


app.command(create, name="create")


@app.command(name="list")
def list_silences(
    *,
    ended: Annotated[bool, SWITCH] = False,
    row_limit: ListLimit = DEFAULT_LIMIT,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """List silences.

    Parameters
    ----------
    ended
        Also list ended silences.
    """
    with api_options.open_client() as client:
        found = list_rows(client.list_silences, row_limit=row_limit, ended=ended or None)
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("ID", lambda row: row.silence_id[:12]),
        TableColumn("STATE", lambda row: row.state),
        TableColumn("MATCH", format_match, flexible=True),
        TableColumn("END", lambda row: format_end(row, now)),
        TableColumn("BY", lambda row: row.created_by),
        TableColumn("REASON", lambda row: row.reason, flexible=True),
    ]
    api_options.print_rows(found.rows, columns, ids="silence_id", empty="No silences")
    print_more_hint(found, api_options)
    return 0


def format_match(silence: Any) -> str:
    """Format what a silence matches, as the options of `create` take it."""
    match = silence.match
    names = ("job", "step", "task", "queue")
    parts = [f"{name}={value}" for name in names if (value := getattr(match, name, None))]
    labels = getattr(match, "labels", None) or {}
    parts += [f"label={name}={value}" for name, value in labels.items()]
    return " ".join(parts) or "everything"


def format_end(silence: Any, now: Any) -> str:
    if silence.ends_at is None:
        return f"calendar {silence.calendar}"
    return times.format_relative(silence.ends_at, now)


@app.command
def end(silence: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """End a silence now. Messages about incidents that are still open are sent.

    Parameters
    ----------
    silence
        Silence id, or its first letters.
    """
    with api_options.open_client() as client:
        silence_id = resolve_silence_id(client, silence)
        client.end_silence(silence_id)
    api_options.print_result({"silence_id": silence_id}, "Ended the silence", id_=silence_id)
    return 0


def resolve_silence_id(client: "Client", text: str) -> str:
    """Return the id of a silence, given its id or its beginning."""
    wanted = text if text.startswith("sil_") else f"sil_{text}"
    rows = list_rows(client.list_silences, row_limit=ListLimit(all_=True)).rows
    found = [str(row.silence_id) for row in rows if row.silence_id.startswith(wanted)]
    if len(found) > 1:
        raise UsageError(f"several silences match {text!r}; give more of the id")
    if not found:
        raise NotFound("silence", text)
    return found[0]
