"""Renders messages about incidents, for people and for programs.

Titles, names and errors come from jobs, so they may hold anything: mentions that wake a whole
company, links that lie about their target, characters that reverse or hide text. Every text passes
`neutralise_text`, in every channel, before a channel adds its own escapes. The replacements look
the same, so that people can still read and search the text:

    < and >          become ‹ and ›: no HTML, no `<!channel>`, no `<url|text>`
    @                becomes ＠: no `@everyone`, `@here` or `@user`
    ](               becomes ] (: no Markdown link or image
    control, bidi    are removed; line breaks and tabs become spaces
"""

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from rota.core.alert_channels import AlertItem, AlertMessage, MessageKind
from rota.core.tenancy import DEFAULT_TENANT
from rota.core.time import durations, moments

TITLE_BYTES_MAX: Final = 250
NAME_BYTES_MAX: Final = 250
ERROR_BYTES_MAX: Final = 1024
FACTS_MAX: Final = 10
BODY_CHARACTERS_MAX: Final = 30_000
ELLIPSIS: Final = "…"
REPLACEMENTS: Final = str.maketrans({"<": "‹", ">": "›", "@": "＠"})
# Control, format (bidi, zero-width, tags), surrogate, private use and unassigned characters.
REMOVED_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
# Words in front of the title; an opened incident shows its severity.
KIND_WORDS: Final[Mapping[MessageKind, str]] = {
    MessageKind.UPDATED: "update",
    MessageKind.REPEATED: "still open",
    MessageKind.ESCALATED: "escalated",
    MessageKind.ACKNOWLEDGED: "acknowledged",
    MessageKind.RESOLVED: "resolved",
    MessageKind.FLAPPING: "flapping",
    MessageKind.DIGEST: "digest",
    MessageKind.TEST: "test",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedAlert:
    """A message as plain text. `title` is one line."""

    title: str
    body: str


def neutralise_text(text: str, *, bytes_max: int = ERROR_BYTES_MAX) -> str:
    """Return a text as one harmless line of at most `bytes_max` bytes."""
    # Each character has at most four bytes, so a longer beginning cannot matter.
    start = text[: bytes_max * 4]
    spaced = "".join(" " if char.isspace() else char for char in start)
    kept = "".join(char for char in spaced if unicodedata.category(char) not in REMOVED_CATEGORIES)
    line = " ".join(kept.translate(REPLACEMENTS).split())
    line = re.sub(r"\]\(", "] (", line)
    return clip_bytes(line, bytes_max)


def clip_bytes(text: str, bytes_max: int) -> str:
    """Cut a text to `bytes_max` bytes of UTF-8, with an ellipsis at the cut."""
    encoded = text.encode()
    if len(encoded) <= bytes_max:
        return text
    room = bytes_max - len(ELLIPSIS.encode())
    return encoded[:room].decode(errors="ignore").rstrip() + ELLIPSIS


def render_alert(
    message: AlertMessage, *, characters_max: int = BODY_CHARACTERS_MAX
) -> RenderedAlert:
    """Render a message as text. Incidents that do not fit in `characters_max` are counted."""
    return RenderedAlert(title=render_title(message), body=render_body(message, characters_max))


def render_title(message: AlertMessage) -> str:
    """Return the first line: what happened, how urgent it is, and to whom if not `default`."""
    word = KIND_WORDS.get(message.kind, message.severity.value)
    tenant = neutralise_text(message.tenant, bytes_max=NAME_BYTES_MAX)
    suffix = "" if message.tenant == DEFAULT_TENANT else f" (tenant {tenant})"
    room = TITLE_BYTES_MAX - len(f"[{word}] {suffix}".encode())
    return f"[{word}] {neutralise_text(message.title, bytes_max=max(room, 50))}{suffix}"


def render_body(message: AlertMessage, characters_max: int) -> str:
    """Return the lines below the title."""
    facts = [
        f"{neutralise_text(str(name).replace('_', ' '), bytes_max=NAME_BYTES_MAX)}: {shown}"
        for name, value in list(message.facts.items())[:FACTS_MAX]
        if (shown := render_fact(value))
    ]
    item_links = {item.link for item in message.items}
    tail = [] if message.link in {None, *item_links} else [f"Details: {message.link}"]
    reserve = sum(len(line) + 1 for line in (*facts, *tail)) + 40
    lines: list[str] = []
    left_out = message.more
    room = characters_max - reserve
    for place, item in enumerate(message.items):
        fitting = next(
            (form for form in render_item_forms(item) if sum(map(len, form)) + len(form) <= room),
            None,
        )
        if fitting is None:
            left_out += len(message.items) - place
            break
        lines += fitting
        room -= sum(map(len, fitting)) + len(fitting)
    if left_out:
        lines.append(f"and {left_out} more" if lines else count_incidents(left_out))
    text = "\n".join((*lines, *facts, *tail))
    return text[:characters_max] or count_incidents(len(message.items) + message.more)


def render_item_forms(item: AlertItem) -> tuple[list[str], list[str]]:
    """Return the lines of an incident, and a shorter form for channels with little room."""
    headline = f"- {neutralise_text(item.title)}{describe_span(item)}"
    details = []
    if item.error:
        details.append(f"  error: {neutralise_text(item.error)}")
    if item.resolved_at is None and item.last_success_at is not None:
        details.append(f"  last success: {render_moment(item.last_success_at)}")
    if item.link is not None:
        details.append(f"  {item.link}")
    short = f"- {neutralise_text(item.title, bytes_max=NAME_BYTES_MAX)}{describe_span(item)}"
    return [headline, *details], [short]


def describe_span(item: AlertItem) -> str:
    """Return since when an incident is open, or how long it was, and how often it happened."""
    times = "" if item.count <= 1 else f", {item.count} times"
    if item.resolved_at is not None:
        lasted = render_duration(item.resolved_at - item.opened_at)
        return f" (resolved after {lasted}{times})"
    return f" (since {render_moment(item.opened_at)}{times})"


def count_incidents(count: int) -> str:
    return f"{count} incident{'' if count == 1 else 's'}"


def render_moment(moment: datetime) -> str:
    """Return an instant to the minute, in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def render_duration(length: timedelta) -> str:
    """Return a duration without more detail than people need: to the minute above an hour."""
    seconds = max(round(length.total_seconds()), 0)
    step = 60 if seconds >= 3600 else 1
    return durations.to_words(timedelta(seconds=seconds - seconds % step))


def render_fact(value: Any) -> str:
    """Return a plain fact as text; lists and tables are left to programs."""
    if value is None or isinstance(value, list | tuple | Mapping):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return render_moment(value)
    return neutralise_text(str(value))


def build_alert_document(message: AlertMessage) -> dict[str, Any]:
    """Return a message as JSON, for webhooks."""
    rendered = render_alert(message)
    return {
        "type": f"alert.{message.kind.value}",
        "timestamp": moments.to_rfc3339(message.at),
        "data": {
            "notification_id": str(message.notification_id),
            "dedup_key": message.dedup_key,
            "severity": message.severity.value,
            "tenant": neutralise_text(message.tenant, bytes_max=NAME_BYTES_MAX),
            "title": rendered.title,
            "text": rendered.body,
            "link": message.link,
            "incidents": [build_item_document(item) for item in message.items],
            "more": message.more,
            "facts": build_plain(message.facts),
        },
    }


def build_item_document(item: AlertItem) -> dict[str, Any]:
    """Return an incident as JSON."""
    return {
        "incident_id": str(item.incident_id),
        "title": neutralise_text(item.title),
        "condition": item.condition,
        "severity": item.severity.value,
        "subject": {
            "kind": item.subject_kind,
            "name": neutralise_text(item.subject_name, bytes_max=NAME_BYTES_MAX),
        },
        "opened_at": moments.to_rfc3339(item.opened_at),
        "resolved_at": None if item.resolved_at is None else moments.to_rfc3339(item.resolved_at),
        "error": None if item.error is None else neutralise_text(item.error),
        "count": item.count,
        "last_success_at": (
            None if item.last_success_at is None else moments.to_rfc3339(item.last_success_at)
        ),
        "link": item.link,
        "labels": build_plain(item.labels),
    }


def build_plain(value: Any) -> Any:
    """Return a value as JSON with neutralised texts."""
    if isinstance(value, Mapping):
        return {
            neutralise_text(str(name), bytes_max=NAME_BYTES_MAX): build_plain(member)
            for name, member in value.items()
        }
    if isinstance(value, list | tuple):
        return [build_plain(member) for member in value]
    if isinstance(value, datetime):
        return moments.to_rfc3339(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float):
        return value
    return neutralise_text(str(value))
