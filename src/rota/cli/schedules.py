"""Prints previews and summaries of schedules."""

from collections.abc import Iterator
from typing import Any, Final

from rota.cli.api_options import ApiOptions, print_json, print_lines
from rota.cli.tables import TableColumn, detect_screen, render_table
from rota.cli.tables import format_cell as shown_cell
from rota.contract.schedule_fields import RULE_FIELDS
from rota.core.errors import InvalidInput
from rota.core.time import durations

# Rules with a value to show; the others are flags.
SUMMARIZED_RULES: Final = tuple(
    rule for rule in RULE_FIELDS if rule not in {"immediate", "on_demand"}
)


def print_preview(preview: Any, api_options: ApiOptions, *, viewer: str | None = None) -> None:
    """Print a preview in the form of the API; `rota next` builds the same form."""
    if api_options.as_json:
        print_json(preview)
    elif api_options.quiet:
        print_lines(shown_cell(each.due_at) for each in preview.upcoming)
    else:
        print_lines(render_preview(preview, viewer=viewer))


def render_preview(preview: Any, *, viewer: str | None) -> Iterator[str]:
    yield preview.sentence
    yield ""
    columns: list[TableColumn[Any]] = [
        TableColumn("LOCAL TIME", lambda each: format_local_time(each.local)),
        TableColumn("UTC", lambda each: each.at),
    ]
    if any(each.due_at != each.at for each in preview.upcoming):
        columns.append(TableColumn("STARTS", lambda each: each.due_at))
    if viewer is not None:
        columns.append(TableColumn(viewer.upper(), lambda each: format_local_time(each.viewed)))
    if any(each.notes for each in preview.upcoming):
        columns.append(TableColumn("NOTE", lambda each: "; ".join(each.notes), flexible=True))
    if preview.upcoming:
        yield from render_table(columns, preview.upcoming, detect_screen())
    else:
        yield "No upcoming runs"
    if preview.warnings:
        yield ""
    for each in preview.warnings:
        yield f"hint: {each.detail}"


def format_local_time(local: object) -> str:
    """Return a local date and time, followed by the offset from UTC."""
    date, _, time = str(local).partition("T")
    place = max(time.rfind("+"), time.rfind("-"))
    return f"{date} {time}" if place < 0 else f"{date} {time[:place]} {time[place:]}"


def summarize_rules(job: Any) -> str:
    """Return all rules of a job's schedule in short form."""
    plain = job.schedule or {}
    rules = [
        _summarize(rule, value)
        for rule in SUMMARIZED_RULES
        for value in (plain[rule] if isinstance(plain.get(rule), list) else [plain.get(rule)])
        if value
    ]
    if not rules:
        return str(job.schedule_type).lower().replace("_", " ")
    has_zone = job.timezone not in {None, "UTC"} and (plain.get("cron") or plain.get("rrule"))
    return " + ".join(rules) + (f" {job.timezone}" if has_zone else "")


def _summarize(rule: str, value: Any) -> str:
    text = value if isinstance(value, str) else _interval(value)
    return text if rule == "cron" else f"{rule} {text}"


def _interval(value: Any) -> str:
    """Return an interval in words; the stored form is ISO 8601."""
    try:
        return durations.to_words(durations.parse(value.get("interval") or value["delay"]))
    except (AttributeError, InvalidInput, KeyError, TypeError):
        return shown_cell(value)
