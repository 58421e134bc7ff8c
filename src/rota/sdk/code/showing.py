"""A plan in lines for people. Room: sdk/code."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

SIGNS: Final = {"create": "+", "update": "~", "prune": "-"}
MOST_SHOWN: Final = 120


def counted(plan: Any) -> str:
    """How much there is to do, in one line."""
    number = dict.fromkeys(SIGNS, 0)
    for change in plan.changes:
        number[change.action] += 1
    said = (
        f"{plan.project}: {number['create']} to create, {number['update']} to change,"
        f" {number['prune']} not in the file, {plan.unchanged} as declared"
    )
    return f"{said}; calendars to write: {len(plan.calendars)}" if plan.calendars else said


def lines(plan: Any, *, prune: bool) -> Iterator[str]:
    """Everything: each field, and which next runs move."""
    for calendar in plan.calendars:
        yield ""
        yield f"{SIGNS[calendar.action]} calendar {calendar.name}"
        if calendar.action == "update":
            for field in calendar.fields:
                yield f"    {field.field}: {shown(field.before)} -> {shown(field.after)}"
    for change in plan.changes:
        yield ""
        yield f"{SIGNS[change.action]} {change.name}{_remark(change, prune=prune)}"
        if change.action == "create" and change.sentence:
            yield f"    {change.sentence}"
        for field in change.fields:
            yield f"    {field.field}: {shown(field.before)} -> {shown(field.after)}"
        if change.touched is not None:
            yield f"    {touched(change.touched)}"
        yield from _runs(change, prune=prune)


def terse(plan: Any) -> Iterator[str]:
    """One line for each calendar and each job."""
    for calendar in plan.calendars:
        yield f"{SIGNS[calendar.action]} calendar {calendar.name}"
    for change in plan.changes:
        names = ", ".join(field.field for field in change.fields)
        yield f"{SIGNS[change.action]} {change.name}{f': {names}' if names else ''}"


def touched(change: Any) -> str:
    deed = change.action.removeprefix("job.")
    return f"changed by hand ({deed}) by {change.by} at {change.at}"


def shown(value: Any) -> str:
    """A value as JSON, on one line and not longer than it helps."""
    if value is None:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    return (
        text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}… ({len(text)} characters)"
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
        yield "    next runs do not move"


def _times(times: Sequence[str]) -> str:
    return ", ".join(times) or "none"
