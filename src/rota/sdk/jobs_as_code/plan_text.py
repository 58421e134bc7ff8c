"""Renders a plan (what applying a manifest would change) as text."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

ACTION_SIGNS: Final = {"create": "+", "update": "~", "prune": "-"}
SHOWN_VALUE_CHARACTERS_MAX: Final = 120


def summarize_plan(plan: Any) -> str:
    """Summarise the changes in one line."""
    counts = dict.fromkeys(ACTION_SIGNS, 0)
    for change in plan.changes:
        counts[change.action] += 1
    summary = (
        f"{plan.project}: {counts['create']} to create, {counts['update']} to update,"
        f" {counts['prune']} not in the file, {plan.unchanged} unchanged"
    )
    if plan.calendars:
        summary += f"; calendars to write: {len(plan.calendars)}"
    if plan.alerts:
        summary += f"; alerts and routes to change: {len(plan.alerts)}"
    return summary


def render_plan(plan: Any, *, prune: bool) -> Iterator[str]:
    """Yield all changes with their fields, and the next runs that move."""
    for calendar in plan.calendars:
        yield from _render_resource(f"calendar {calendar.name}", calendar)
    for alert in plan.alerts:
        remark = _remark(alert, prune=prune)
        yield from _render_resource(f"{alert.thing} {alert.name}{remark}", alert)
    for change in plan.changes:
        yield ""
        yield f"{ACTION_SIGNS[change.action]} {change.name}{_remark(change, prune=prune)}"
        if change.action == "create" and change.sentence:
            yield f"    {change.sentence}"
        for field in change.fields:
            yield f"    {field.field}: {format_value(field.before)} -> {format_value(field.after)}"
        if change.touched is not None:
            yield f"    {describe_manual_change(change.touched)}"
        yield from _runs(change, prune=prune)


def _render_resource(title: str, change: Any) -> Iterator[str]:
    yield ""
    yield f"{ACTION_SIGNS[change.action]} {title}"
    if change.action == "update":
        for field in change.fields:
            yield f"    {field.field}: {format_value(field.before)} -> {format_value(field.after)}"


def render_plan_briefly(plan: Any) -> Iterator[str]:
    """Yield one line for each calendar, rule, route and job."""
    for calendar in plan.calendars:
        yield f"{ACTION_SIGNS[calendar.action]} calendar {calendar.name}"
    for alert in plan.alerts:
        names = ", ".join(field.field for field in alert.fields)
        shown = f": {names}" if names and alert.action == "update" else ""
        yield f"{ACTION_SIGNS[alert.action]} {alert.thing} {alert.name}{shown}"
    for change in plan.changes:
        names = ", ".join(field.field for field in change.fields)
        yield f"{ACTION_SIGNS[change.action]} {change.name}{f': {names}' if names else ''}"


def describe_manual_change(change: Any) -> str:
    action = change.action.removeprefix("job.")
    return f"changed by hand ({action}) by {change.by} at {change.at}"


def format_value(value: Any) -> str:
    """Format a value as JSON on one line, shortened if necessary."""
    if value is None:
        return "none"
    text = json.dumps(value, ensure_ascii=False)
    return (
        text
        if len(text) <= SHOWN_VALUE_CHARACTERS_MAX
        else f"{text[: SHOWN_VALUE_CHARACTERS_MAX - 1]}… ({len(text)} characters)"
    )


def _remark(change: Any, *, prune: bool) -> str:
    if change.action != "prune":
        return ""
    return " (will be deleted)" if prune else " (not in the file; --prune deletes it)"


def _runs(change: Any, *, prune: bool) -> Iterator[str]:
    if change.note is not None:
        yield f"    next runs: {change.note}"
    elif change.action == "create":
        yield f"    next runs: {_times(change.next_after)}"
    elif change.action == "prune":
        if prune and change.next_before:
            yield f"    will not run: {_times(change.next_before)}"
    elif change.moves:
        yield "    next runs move"
        yield f"      from {_times(change.next_before)}"
        yield f"      to   {_times(change.next_after)}"
    else:
        yield "    next runs are unchanged"


def _times(times: Sequence[str]) -> str:
    return ", ".join(times) or "none"
