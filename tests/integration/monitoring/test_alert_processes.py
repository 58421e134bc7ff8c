"""Alerts of real processes arrive at a real webhook: once each, also when senders are killed."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.support.alert_fleet import (
    AlertFleet,
    build_failing_jobs,
    receive_messages,
    start_alert_fleet,
)
from tests.support.databases import clone_url, make_template
from tests.support.gated import durable_server

from rota.runtime.clock import SystemClock
from rota.store.embedded import Embedded

JOBS = 200
KILL_SEED = 18
KILLS = 6
ROWS = "select id, state, attempts, error from rota.notifications where kind = 'opened'"
INCIDENTS = "select subject_name from rota.incidents order by subject_name"
# Ends leases, which would end by themselves half a minute after a process was killed. The leases of
# the living end too: two processes may send the same message.
END_SENDING = """
update rota.notifications set lease_until = rota.now()
where state = 'sending' and lease_until > rota.now()
returning id
"""
END_LEASES = """
update rota.named_leases set expires_at = rota.now()
where expires_at > rota.now()
returning name
"""


@pytest.fixture(scope="module")
def durable() -> Iterator[Embedded]:
    with durable_server() as server:
        asyncio.run(make_template(server.url))
        yield server


@pytest.fixture
def database(durable: Embedded) -> str:
    return asyncio.run(clone_url(durable.url))


@contextmanager
def start_fleet(
    folder: Path, database: str, *, schedulers: int = 1, answer_s: float = 0.0
) -> Iterator[AlertFleet]:
    with (
        receive_messages(answer_s=answer_s) as webhook,
        start_alert_fleet(folder, database, webhook, schedulers=schedulers) as fleet,
    ):
        yield fleet


def create_failing_jobs(fleet: AlertFleet, number: int) -> None:
    """Create jobs that fail in two seconds."""
    first_tick = (SystemClock().now() + timedelta(seconds=2)).isoformat()
    fleet.client.create_jobs(build_failing_jobs(number, first_tick=first_tick))


def list_rows(fleet: AlertFleet) -> dict[str, Any]:
    return {str(row["id"]): row for row in fleet.query(ROWS)}


def are_all_sent(fleet: AlertFleet, number: int) -> bool:
    rows = list_rows(fleet)
    return len(rows) == number and all(row["state"] == "sent" for row in rows.values())


def test_a_webhook_learns_of_failures_their_end_and_lost_workers(
    tmp_path: Path, database: str
) -> None:
    with start_fleet(tmp_path, database) as fleet:
        webhook = fleet.webhook
        fleet.client.create_expectation(
            name="workers", match={"queue": "default"}, when={"no_worker": "1s"}
        )
        job = fleet.client.create_job(
            name="report",
            kind="fleet.obey",
            payload={"fails": True},
            schedule={"every": "1s"},
            expect={"failures": {"streak": 3}},
        )
        fleet.wait_until(lambda: webhook.list_of("alert.opened", "report"), "report opened")
        fleet.client.update_job(job.job_id, payload={"fails": False})
        fleet.wait_until(
            lambda: fleet.client.list_incidents(state="resolved").items, "report resolved"
        )
        (worker,) = [member for member in fleet.cluster.members if member.name == "worker"]
        worker.end()
        fleet.wait_until(lambda: webhook.list_of("alert.opened", "default"), "no worker opened")
        worker.start()
        fleet.wait_until(lambda: webhook.list_of("alert.resolved", "report"), "report ended")

        assert len(webhook.list_of("alert.opened", "report")) == 1
        (opened,) = webhook.list_of("alert.opened", "report")
        (resolved,) = webhook.list_of("alert.resolved", "report")
        assert opened.data["dedup_key"] == resolved.data["dedup_key"]
        assert set(webhook.count_ids().values()) == {1}


def test_two_schedulers_send_each_message_once(tmp_path: Path, database: str) -> None:
    number = JOBS // 2
    with start_fleet(tmp_path, database, schedulers=2) as fleet:
        create_failing_jobs(fleet, number)
        fleet.wait_until(lambda: are_all_sent(fleet, number), "all messages sent")

        rows = list_rows(fleet)
        assert {row["attempts"] for row in rows.values()} == {1}
        assert fleet.webhook.count_ids() == dict.fromkeys(rows, 1)


def test_no_message_is_lost_when_senders_are_killed(tmp_path: Path, database: str) -> None:
    """A message that was on its way when its sender was killed comes again, with the same id."""
    rng = Random(KILL_SEED)
    with start_fleet(tmp_path, database, schedulers=2, answer_s=0.5) as fleet:
        create_failing_jobs(fleet, JOBS)
        fleet.wait_until(lambda: fleet.webhook.messages, "a first message")
        schedulers = [each for each in fleet.cluster.members if each.name.startswith("scheduler")]
        for number in range(KILLS):
            fleet.rest(rng.uniform(0.1, 1.0))
            schedulers[number % 2].end()
            fleet.query(END_LEASES)
            fleet.query(END_SENDING)
            schedulers[number % 2].start()
        fleet.wait_until(lambda: are_all_sent(fleet, JOBS), "all messages sent")

        rows = list_rows(fleet)
        received = fleet.webhook.count_ids()
        assert set(received) == set(rows)
        assert all(count <= rows[id_]["attempts"] for id_, count in received.items())
        assert any(row["attempts"] > 1 for row in rows.values())
        incidents = [row["subject_name"] for row in fleet.query(INCIDENTS)]
        assert incidents == sorted(f"failing {place:03}" for place in range(JOBS))
        assert {subject for each in fleet.webhook.messages for subject in each.subjects} == set(
            incidents
        )
