"""What a process tells about itself, from the times that its threads have recorded."""

import json
from collections.abc import Callable

import pytest

from rota.runtime.observe_listener import (
    ProbeRequest,
    ProbeResponse,
    build_probes,
    parse_request,
)
from rota.runtime.process_health import LAG_WINDOW_S, CheckResult, ProcessHealth


class Hand:
    """A clock that the test moves."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def hand() -> Hand:
    return Hand()


@pytest.fixture
def health(hand: Hand) -> ProcessHealth:
    return ProcessHealth(monotonic=hand, database_seen_at=lambda: 1000.0)


def ask(
    health: ProcessHealth, path: str, *, verbose: bool = False
) -> tuple[int, dict[str, object]]:
    endpoint: Callable[..., object] = build_probes(health)[path]
    answer = endpoint(ProbeRequest("GET", path, {"verbose": [""]} if verbose else {}, None))
    assert isinstance(answer, ProbeResponse)
    return answer.status, json.loads(answer.body)


def test_a_process_that_starts_is_alive_and_says_what_it_waits_for(health: ProcessHealth) -> None:
    health.mark_waiting("waiting for the database: refused")

    assert ask(health, "/livez") == (200, {"status": "ok"})
    assert ask(health, "/healthz")[0] == 200
    assert ask(health, "/startupz") == (
        503,
        {"status": "unavailable", "detail": "waiting for the database: refused"},
    )
    assert ask(health, "/readyz")[0] == 503


async def test_a_started_process_is_ready_until_the_database_is_silent_for_ten_seconds(
    health: ProcessHealth, hand: Hand
) -> None:
    health.mark_started()
    await health.heartbeat.tick()
    first = ask(health, "/readyz")
    hand.now += 10.5
    await health.heartbeat.tick()

    assert first == (200, {"status": "ok"})
    assert ask(health, "/readyz")[1]["detail"] == "the database has not answered for 10 s"
    assert not health.is_database_up
    assert ask(health, "/livez")[0] == 200


async def test_a_blocked_loop_is_not_ready_after_five_and_not_alive_after_twenty_seconds(
    health: ProcessHealth, hand: Hand
) -> None:
    health.database_seen_at = hand
    health.mark_started()
    await health.heartbeat.tick()

    def statuses() -> tuple[int, int]:
        return ask(health, "/livez")[0], ask(health, "/readyz")[0]

    found = [statuses()]
    for seconds in (6, 15):
        hand.now += seconds
        found.append(statuses())

    assert found == [(200, 200), (200, 503), (503, 503)]
    assert health.heartbeat.measure_lag() == pytest.approx(20.5)


def test_a_watchdog_that_does_not_look_ends_liveness(health: ProcessHealth) -> None:
    health.watchdog_silence = lambda: 21.0

    assert ask(health, "/livez")[1]["detail"] == "the watchdog has not looked for 21 s"


async def test_each_check_is_listed_with_its_age(health: ProcessHealth, hand: Hand) -> None:
    health.mark_started()
    health.is_stopping = lambda: True
    health.add_check("session", lambda: CheckResult(age_s=1.23456))
    hand.now += 2

    status, body = ask(health, "/readyz", verbose=True)

    assert (status, body["detail"]) == (503, "the process is stopping")
    assert body["checks"] == [
        {"name": "startup", "status": "ok", "age_s": 2.0},
        {"name": "not_stopping", "status": "failed", "detail": "the process is stopping"},
        {"name": "event_loop", "status": "ok", "age_s": 0.0},
        {"name": "database", "status": "ok", "age_s": 2.0},
        {"name": "session", "status": "ok", "age_s": 1.235},
    ]


async def test_the_largest_delay_is_remembered_for_a_window_and_then_forgotten(
    health: ProcessHealth, hand: Hand
) -> None:
    heartbeat = health.heartbeat
    await heartbeat.tick()
    hand.now += 3.5
    await heartbeat.tick()
    found = [heartbeat.measure_lag()]
    for _ in range(2):
        for _ in range(int(LAG_WINDOW_S / 0.5) + 1):
            hand.now += 0.5
            await heartbeat.tick()
        found.append(heartbeat.measure_lag())

    assert found == [3.0, 3.0, 0.0]


def test_a_request_is_read_with_its_query_and_accept_header() -> None:
    head = b"GET /readyz?verbose&x=1 HTTP/1.1\r\nHost: a\r\naCCept: text/plain\r\n\r\n"

    assert parse_request(head) == ("GET", "/readyz", {"verbose": [""], "x": ["1"]}, "text/plain")
