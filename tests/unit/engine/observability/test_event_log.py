"""Events as log lines: for people one line with fields, for machines one object (O6)."""

import json
from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest

from rota.core.errors import StoreUnavailable
from rota.core.log_events import ClockSkewed, EngineEvent
from rota.engine.observability.event_log import ENGINE_LOG_NAMES, EventLog, describe_engine
from rota.engine.observability.log_lines import LogLevel
from rota.runtime.events import (
    AdminKeyExpires,
    DatabaseLost,
    DatabaseReached,
    DatabaseRecovered,
    ProcessDraining,
    RuntimeEvent,
    ServiceCancelled,
    ServiceFailed,
    SpansLost,
    WaitingForDatabase,
)

NOW = datetime(2026, 7, 1, 12, 0, 0, 5000, tzinfo=UTC)
AWAY = DatabaseLost(duty="firing", reason="gone\nfishing", failures=2, pause=timedelta(seconds=1.5))


def written(event: RuntimeEvent, *, as_json: bool = False, level: LogLevel = LogLevel.INFO) -> str:
    lines: list[str] = []
    EventLog(level=level, as_json=as_json, now=lambda: NOW, write=lines.append)(event)
    return "".join(lines)


def test_a_line_for_people_is_one_line_whatever_is_in_it() -> None:
    assert written(AWAY) == (
        "2026-07-01T12:00:00.005Z warning store.away"
        ' duty=firing reason="gone\\nfishing" failures=2 pause_s=1.5\n'
    )


def test_a_line_for_machines_is_one_object() -> None:
    line = json.loads(written(AWAY, as_json=True))

    assert line["event"] == "store.away"
    assert line["level"] == "warning"
    assert line["reason"] == "gone\nfishing"


def test_a_process_that_waits_says_why_how_long_and_what_decides() -> None:
    event = WaitingForDatabase(
        reason="a: refused; b: no answer", failures=4, waited=timedelta(seconds=30.04)
    )

    assert written(event).endswith(
        "warning database.waiting failures=4 waited_s=30.0"
        ' reason="a: refused; b: no answer" setting=database.wait_at_start\n'
    )


def test_what_is_below_the_level_is_not_written() -> None:
    assert written(ProcessDraining(), level=LogLevel.WARNING) == ""
    assert written(ServiceCancelled(service="x"), level=LogLevel.WARNING) != ""


@pytest.mark.parametrize(
    ("event", "name"),
    [
        (DatabaseRecovered(duty="firing", failures=3), "store.back"),
        (
            WaitingForDatabase(reason="gone", failures=1, waited=timedelta()),
            "database.waiting",
        ),
        (DatabaseReached(failures=9, waited=timedelta(seconds=8)), "database.back"),
        (ProcessDraining(), "node.draining"),
        (ServiceFailed(service="firing", error=StoreUnavailable(reason="x")), "service.failed"),
        (ServiceFailed(service="firing", error=None), "service.failed"),
        (ServiceCancelled(service="firing"), "service.cancelled"),
        (AdminKeyExpires(key_id="key_1", expires_at=NOW), "admin_key.expires"),
        (SpansLost(count=3, reason="the queue is full"), "spans.lost"),
    ],
)
def test_every_event_has_a_constant_name(event: RuntimeEvent, name: str) -> None:
    assert f" {name}" in written(event)


def test_every_event_of_the_engine_has_a_line() -> None:
    assert set(ENGINE_LOG_NAMES) == set(get_args(EngineEvent))


def test_a_duration_in_an_event_is_told_in_seconds() -> None:
    event = ClockSkewed(by=timedelta(milliseconds=1500), at=datetime(2026, 7, 1, tzinfo=UTC))

    assert describe_engine(event).fields["by_s"] == 1.5
