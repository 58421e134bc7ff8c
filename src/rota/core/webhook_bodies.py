"""Builds the body of a webhook: thin by default, at most 256 kB (I7).

The data of an event is stored once. Each endpoint gets it in its own format, with the fields that
it includes: payload and result of the run.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote
from uuid import UUID

from rota.core.outgoing_events import OutgoingEvent
from rota.core.time import moments

BODY_BYTES_MAX: Final = 256 * 1024
ERROR_MESSAGE_BYTES_MAX: Final = 1024
MASK_TEXT: Final = "***"
MASKED_DEPTH_MAX: Final = 50
JSON_MEDIA_TYPE: Final = "application/json"
CLOUDEVENT_MEDIA_TYPE: Final = "application/cloudevents+json"
# Names of fields whose values are masked in payloads and results.
SECRET_NAME: Final = re.compile(
    r"pass(?:word|wd|phrase)|secret|token|api[-_]?key|private[-_]?key|authorization|credential",
    re.IGNORECASE,
)
# Left out of a body that is too large, in this order.
DROPPED_FIELDS: Final = ("result", "payload", "details", "labels", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvent:
    """An event as endpoints get it. `extras` has the fields that an endpoint may include."""

    id: UUID
    type: str
    at: datetime
    subject: str | None
    data: Mapping[str, Any]
    extras: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookBody:
    content: bytes
    media_type: str


def format_event_id(event_id: UUID) -> str:
    """Return the text form of an event's id, which is the `webhook-id` of its requests."""
    return f"evt_{event_id.hex}"


def build_stored_event(
    event: OutgoingEvent,
    *,
    public_url: str | None = None,
    extras: Mapping[str, Any] | None = None,
) -> StoredEvent:
    """Return what is stored of an event. Fields without a value are left out."""
    fields: dict[str, Any] = {
        "at": moments.to_rfc3339(event.at),
        "run_id": _format_id("run", event.run_id),
        "job_id": _format_id("job", event.job_id),
        "job": event.job_name,
        "state": event.state,
        "trigger": event.trigger,
        "attempt": event.attempt,
        "queue": event.queue,
        "task": event.task,
        "labels": dict(event.labels),
        "user_id": event.user_id,
        "graph_run_id": _format_id("run", event.graph_run_id),
        "step": event.step,
        "scheduled_at": _format_time(event.scheduled_at),
        "due_at": _format_time(event.due_at),
        "started_at": _format_time(event.started_at),
        "finished_at": _format_time(event.finished_at),
        "error": _build_error(event.reason),
        "details": _build_details(event),
        "link": _build_link(event, public_url),
    }
    return StoredEvent(
        id=event.id,
        type=event.type,
        at=event.at,
        subject=_build_subject(event),
        data={name: value for name, value in fields.items() if value not in (None, {})},
        extras=extras,
    )


def render_body(
    event: StoredEvent, *, style: str, include: Iterable[str], tenant: str
) -> WebhookBody:
    """Return the body for an endpoint; fields that make it too large are left out."""
    data = dict(event.data)
    extras = event.extras or {}
    is_truncated = False
    for name in include:
        if name in extras:
            data[name] = extras[name]
        elif name in extras.get("left_out", ()):
            is_truncated = True
    content = _encode(event, _mark(data, is_truncated), style, tenant)
    for name in DROPPED_FIELDS:
        if len(content) <= BODY_BYTES_MAX:
            break
        if data.pop(name, None) is not None:
            content = _encode(event, _mark(data, is_truncated=True), style, tenant)
    is_cloudevent = style == "cloudevents"
    return WebhookBody(
        content=content, media_type=CLOUDEVENT_MEDIA_TYPE if is_cloudevent else JSON_MEDIA_TYPE
    )


def build_extras(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields to include, masked; those that no body has room for are only named."""
    extras: dict[str, Any] = {}
    left_out = []
    for name, value in values.items():
        masked = mask_named_secrets(value)
        if len(_dump(masked)) > BODY_BYTES_MAX:
            left_out.append(name)
        else:
            extras[name] = masked
    return {**extras, "left_out": left_out} if left_out else extras


def mask_named_secrets(value: Any, *, depth: int = 0) -> Any:
    """Mask the values of fields that are named like a password, token or key.

    Values of Rota's own secrets are not in payloads, and are masked in results already.
    """
    if depth > MASKED_DEPTH_MAX:
        return MASK_TEXT
    if isinstance(value, Mapping):
        return {
            name: MASK_TEXT
            if SECRET_NAME.search(str(name)) and item is not None
            else mask_named_secrets(item, depth=depth + 1)
            for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [mask_named_secrets(item, depth=depth + 1) for item in value]
    return value


def _encode(event: StoredEvent, data: Mapping[str, Any], style: str, tenant: str) -> bytes:
    at = moments.to_rfc3339(event.at)
    if style != "cloudevents":
        return _dump({"type": event.type, "timestamp": at, "data": data})
    document = {
        "specversion": "1.0",
        "id": format_event_id(event.id),
        "source": f"/rota/{quote(tenant, safe='')}",
        "type": f"rota.{event.type}",
        "subject": event.subject,
        "time": at,
        "datacontenttype": JSON_MEDIA_TYPE,
        "data": data,
    }
    return _dump({name: value for name, value in document.items() if value is not None})


def _mark(data: Mapping[str, Any], is_truncated: bool) -> Mapping[str, Any]:  # noqa: FBT001
    return {**data, "truncated": True} if is_truncated else data


def _dump(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
    return text.encode(errors="replace")


def _build_details(event: OutgoingEvent) -> dict[str, Any]:
    """Return the details of an event. A change of a job names the fields, whose values may be
    payloads.
    """
    found = {name: value for name, value in event.details.items() if value is not None}
    if event.type.startswith("job."):
        sides = (found.pop("before", None) or {}, found.pop("after", None) or {})
        found["fields"] = sorted({name for side in sides for name in side})
    return found


def _build_error(reason: Mapping[str, Any] | None) -> dict[str, str] | None:
    """Return type and message of a failure; the reason of a tick that did not run has a code."""
    if not reason:
        return None
    type_ = reason.get("type") or reason.get("code")
    message = str(reason.get("message") or "")
    clipped = message.encode(errors="replace")[:ERROR_MESSAGE_BYTES_MAX].decode(errors="ignore")
    found = {"type": str(type_) if type_ else "", "message": clipped}
    return {name: text for name, text in found.items() if text} or None


def _build_subject(event: OutgoingEvent) -> str | None:
    if event.job_id is None and event.job_name is None:
        thing, thing_id = event.details.get("thing"), event.details.get("thing_id")
        return f"{thing}s/{thing_id}" if thing and thing_id else None
    job = f"jobs/{quote(event.job_name or _format_id('job', event.job_id) or '', safe='')}"
    return job if event.run_id is None else f"{job}/runs/{_format_id('run', event.run_id)}"


def _build_link(event: OutgoingEvent, public_url: str | None) -> str | None:
    if public_url is None:
        return None
    base = public_url.rstrip("/")
    if event.run_id is not None:
        return f"{base}/runs/{_format_id('run', event.run_id)}"
    if event.job_id is not None:
        return f"{base}/jobs/{_format_id('job', event.job_id)}"
    return None


def _format_id(prefix: str, id_: UUID | None) -> str | None:
    return None if id_ is None else f"{prefix}_{id_.hex}"


def _format_time(at: datetime | None) -> str | None:
    return None if at is None else moments.to_rfc3339(at)
