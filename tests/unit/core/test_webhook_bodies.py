"""What a webhook contains: thin, masked, at most 256 kB (I7)."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from rota.core.outgoing_events import OutgoingEvent
from rota.core.webhook_bodies import (
    BODY_BYTES_MAX,
    StoredEvent,
    build_extras,
    build_stored_event,
    mask_named_secrets,
    render_body,
)

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)


def build(**given: Any) -> StoredEvent:
    extras = given.pop("extras", None)
    public_url = given.pop("public_url", None)
    values: dict[str, Any] = {
        "id": UUID(int=1),
        "type": "run.failed",
        "tenant_id": 1,
        "at": NOW,
        "run_id": UUID(int=2),
        "job_id": UUID(int=3),
        "job_name": "a/b",
    }
    return build_stored_event(OutgoingEvent(**values | given), public_url=public_url, extras=extras)


def render(event: StoredEvent, style: str = "standard", *include: str) -> dict[str, Any]:
    body = render_body(event, style=style, include=include, tenant="team a")
    assert len(body.content) <= BODY_BYTES_MAX
    return dict(json.loads(body.content))


def test_fields_without_a_value_are_left_out() -> None:
    data = render(build())["data"]

    assert set(data) == {"at", "run_id", "job_id", "job"}


def test_a_link_leads_to_the_run() -> None:
    data = render(build(public_url="https://rota.example/"))["data"]

    assert data["link"] == f"https://rota.example/runs/run_{UUID(int=2).hex}"


def test_the_message_of_an_error_is_cut_to_a_kilobyte() -> None:
    reason = {"type": "ValueError", "message": "ü" * 2000, "traceback": "secret"}
    error = render(build(reason=reason))["data"]["error"]

    assert error == {"type": "ValueError", "message": "ü" * 512}


def test_a_tick_that_did_not_run_has_its_code_as_the_error() -> None:
    assert render(build(reason={"code": "overlap"}))["data"]["error"] == {"type": "overlap"}


def test_a_change_of_a_job_names_fields_and_never_their_values() -> None:
    details = {"action": "job.update", "before": {"payload": "old"}, "after": {"payload": "new"}}
    body = render(build(type="job.changed", details=details))

    assert body["data"]["details"] == {"action": "job.update", "fields": ["payload"]}


def test_extras_are_sent_only_to_those_who_include_them() -> None:
    event = build(extras=build_extras({"payload": {"n": 1}, "result": {"ok": True}}))

    assert "payload" not in render(event)["data"]
    assert render(event, "standard", "payload")["data"]["payload"] == {"n": 1}
    assert "result" not in render(event, "standard", "payload")["data"]


def test_a_body_that_is_too_large_leaves_fields_out_and_says_so() -> None:
    extras = build_extras({"payload": "x" * 200_000, "result": "y" * 200_000})
    data = render(build(extras=extras), "standard", "payload", "result")["data"]

    assert (data["truncated"], "payload" in data, "result" in data) == (True, True, False)
    huge = build_extras({"payload": "x" * 300_000})
    assert huge == {"left_out": ["payload"]}
    data = render(build(extras=huge), "standard", "payload")["data"]
    assert (data["truncated"], "payload" in data) == (True, False)
    assert "truncated" not in render(build(extras=huge))["data"]
    wide = build(labels={f"l{n}": "z" * 200 for n in range(2000)})
    assert render(wide)["data"]["truncated"] is True


@pytest.mark.parametrize(
    "name", ["password", "db_passwd", "API_KEY", "apiKey", "token", "clientSecret", "Authorization"]
)
def test_fields_that_are_named_like_a_secret_are_masked(name: str) -> None:
    value = {"list": [{name: "hidden", "other": 1}], name: {"deep": "hidden"}}

    masked = mask_named_secrets(value)

    assert "hidden" not in json.dumps(masked)
    assert masked["list"][0]["other"] == 1


def test_endless_nesting_ends() -> None:
    value: Any = "hidden"
    for _ in range(500):
        value = [value]

    assert "hidden" not in json.dumps(mask_named_secrets(value))


def test_a_cloudevent_has_source_subject_and_type() -> None:
    body = render(build(), "cloudevents")

    assert body["specversion"] == "1.0"
    assert (body["type"], body["source"]) == ("rota.run.failed", "/rota/team%20a")
    assert body["subject"] == f"jobs/a%2Fb/runs/run_{UUID(int=2).hex}"
    assert body["id"] == f"evt_{UUID(int=1).hex}"


def test_the_same_event_has_the_same_bytes() -> None:
    bodies = {
        render_body(build(labels=labels), style="standard", include=(), tenant="t").content
        for labels in ({"a": "1", "b": "2"}, {"b": "2", "a": "1"})
    }

    assert len(bodies) == 1
