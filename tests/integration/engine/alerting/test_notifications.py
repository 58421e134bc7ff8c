"""Incidents become messages: at once, grouped, paced, repeated, escalated, silenced, and each once
on any number of processes.
"""

import asyncio
import json
import os
from datetime import timedelta
from typing import Any

import asyncpg
import pytest
from tests.support.alerting import AlertDesk, RememberingChannel, met, violated
from tests.support.shop import until
from tests.support.standing import WorldClock
from tests.support.world import World

from rota.core.alert_channels import AlertMessage, ChannelResult
from rota.core.alerts.finding import Severity
from rota.core.alerts.pacing import RETRY_FIRST
from rota.engine.alerting.incident_pruner import IncidentPruner
from rota.engine.alerting.notification_planner import plan_due_groups
from rota.engine.alerting.notification_sender import (
    LEASE,
    NotificationExpirer,
    NotificationSender,
    claim_messages,
    record_result,
)
from rota.store import silences
from rota.store.silences import NewSilence

# All ten thousand in `make test-alerts`.
STORM = 10_000 if os.environ.get("ROTA_TEST_ALERTS") else 2_000
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def desk(world: World) -> AlertDesk:
    return AlertDesk(world)


async def add_route(world: World, name: str, *steps: dict[str, Any]) -> None:
    await world.conn.execute(
        "insert into rota.alert_routes (tenant_id, name, steps) values (1, $1, $2)",
        name,
        json.dumps(steps),
    )


async def add_silence(world: World, **given: Any) -> None:
    new = {
        "id": world.new_id(),
        "tenant_id": 1,
        "match": "{}",
        "starts_at": world.now,
        "ends_at": world.now + timedelta(hours=1),
        "calendar": None,
        "reason": "deploy",
        "created_by": "ada",
        **given,
    }
    await silences.create_silence(world.conn, NewSilence(**new), now=world.now)


async def acknowledge(desk: AlertDesk) -> None:
    await desk.world.conn.execute("update rota.incidents set state = 'acknowledged'")
    await desk.world.conn.execute("update rota.alert_groups set next_at = $1", desk.world.now)


async def test_the_first_message_goes_out_at_once_with_everything_a_reader_needs(
    world: World, desk: AlertDesk
) -> None:
    chat = await desk.add_channel()
    facts = {"error": "disk full", "last_success_at": "2026-06-30T02:30:00+00:00"}
    await desk.find(violated(world, facts=facts, labels={"team": "billing"}))
    await desk.work()

    (message,) = chat.messages
    assert (message.kind, message.severity) == ("opened", Severity.WARNING)
    assert message.title == "report: failure_streak"
    (item,) = message.items
    assert (item.error, item.subject_name, item.labels) == (
        "disk full",
        "report",
        {"team": "billing"},
    )
    assert item.last_success_at is not None
    assert item.link == f"https://rota.example/alerts/inc_{item.incident_id.hex}"
    state = await desk.read_row("select * from rota.notifications")
    assert (state["state"], state["attempts"]) == ("sent", 1)


async def test_a_group_names_twenty_incidents_and_counts_the_rest(
    world: World, desk: AlertDesk
) -> None:
    chat = await desk.add_channel()
    await desk.find(*(violated(world, job=f"job {number}") for number in range(30)))
    await desk.work()

    (message,) = chat.messages
    assert (len(message.items), message.more) == (20, 10)
    assert message.title == "failing: 30 incidents"


async def test_later_incidents_wait_half_a_minute_and_then_five(
    world: World, desk: AlertDesk
) -> None:
    chat = await desk.add_channel()
    sent_after = []
    began = world.now
    for number in range(24):
        await desk.find(violated(world, job=f"job {number}"))
        before = len(chat.messages)
        await desk.pass_time(seconds=30)
        if len(chat.messages) > before:
            sent_after.append((chat.messages[-1].at - began).total_seconds())

    assert sent_after == [5, 35, 335, 635]
    assert [message.kind for message in chat.messages] == [
        "opened",
        "updated",
        "updated",
        "updated",
    ]
    assert len({message.dedup_key for message in chat.messages}) == 1


async def test_a_recovery_is_sent_once_with_the_key_of_the_opening(
    world: World, desk: AlertDesk
) -> None:
    chat = await desk.add_channel()
    await desk.find(violated(world))
    await desk.pass_time(minutes=2)
    await desk.find(met(world))
    await desk.pass_time(minutes=2)

    assert [message.kind for message in chat.messages] == ["opened", "resolved"]
    opened, resolved = chat.messages
    assert opened.dedup_key == resolved.dedup_key
    assert opened.notification_id != resolved.notification_id
    assert resolved.items[0].resolved_at is not None

    await desk.pass_time(hours=2, step=timedelta(minutes=20))
    await desk.find(violated(world))
    await desk.work()
    assert chat.messages[-1].kind == "opened"
    assert chat.messages[-1].dedup_key != opened.dedup_key


async def test_a_channel_without_recovery_gets_no_end(world: World, desk: AlertDesk) -> None:
    chat = await desk.add_channel(recovery=False)
    await desk.find(violated(world))
    await desk.pass_time(minutes=1)
    await desk.find(met(world))
    await desk.pass_time(minutes=1)

    assert [message.kind for message in chat.messages] == ["opened"]


async def test_a_route_repeats_and_escalates_until_somebody_acknowledges(
    world: World, desk: AlertDesk
) -> None:
    chat = await desk.add_channel("chat", is_default=False)
    oncall = await desk.add_channel("oncall", is_default=False)
    await add_route(
        world,
        "team",
        {"to": ["chat"], "repeat": "PT20M"},
        {"to": ["oncall"], "after": "PT30M", "unless": "acknowledged", "severity": "page"},
    )
    await desk.find(violated(world, route="team", severity=Severity.PAGE))
    await desk.pass_time(minutes=45, step=MINUTE)

    assert [message.kind for message in chat.messages] == ["opened", "repeated", "repeated"]
    assert [message.kind for message in oncall.messages] == ["escalated"]

    await acknowledge(desk)
    await desk.pass_time(hours=2, step=MINUTE)
    assert len(chat.messages) == 3

    await desk.find(violated(world, route="team", severity=Severity.PAGE, job="other"))
    await desk.pass_time(minutes=25, step=MINUTE)
    assert [message.kind for message in chat.messages[3:]] == ["updated", "repeated"]


async def test_an_acknowledgement_stops_an_escalation(world: World, desk: AlertDesk) -> None:
    await desk.add_channel("chat", is_default=False)
    oncall = await desk.add_channel("oncall", is_default=False)
    await add_route(
        world,
        "team",
        {"to": ["chat"]},
        {"to": ["oncall"], "after": "PT30M", "unless": "acknowledged"},
    )
    await desk.find(violated(world, route="team"))
    await desk.pass_time(minutes=10, step=MINUTE)
    await acknowledge(desk)
    await desk.pass_time(minutes=60, step=MINUTE)

    assert oncall.messages == []


async def test_a_route_that_is_no_route_is_a_channel(world: World, desk: AlertDesk) -> None:
    chat = await desk.add_channel("chat", is_default=False)
    default = await desk.add_channel("default")
    await desk.find(violated(world, route="chat"))
    await desk.work()

    assert len(chat.messages) == 1
    assert default.messages == []


async def test_a_tenant_cannot_use_the_channel_of_another(world: World, desk: AlertDesk) -> None:
    foreign = await desk.add_channel("foreign", tenants=("acme",))
    await desk.find(violated(world, route="foreign"), violated(world, rule="by default"))
    await desk.work()

    assert foreign.messages == []
    assert await world.count("notifications") == 1
    row = await desk.read_row("select state, error from rota.notifications")
    assert row["state"] == "suppressed"
    assert row["error"] == "the channel does not allow tenant default; add it to `tenants`"


async def test_a_tenant_that_loses_a_channel_sends_nothing_through_it_any_more(
    world: World, desk: AlertDesk
) -> None:
    await desk.add_channel()
    await desk.find(violated(world))
    await desk.planner.tick()
    chat = await desk.add_channel(tenants=("acme",))
    await desk.work()

    assert chat.messages == []
    assert await world.conn.fetchval("select state from rota.notifications") == "failed"


async def test_a_channel_gets_only_its_least_severity(world: World, desk: AlertDesk) -> None:
    pager = await desk.add_channel(minimum_severity=Severity.PAGE)
    await desk.find(violated(world), violated(world, rule="bad", severity=Severity.PAGE))
    await desk.work()

    assert [message.severity for message in pager.messages] == [Severity.PAGE]


async def test_without_a_channel_incidents_are_only_shown(world: World, desk: AlertDesk) -> None:
    await desk.find(violated(world))
    await desk.pass_time(minutes=10, step=MINUTE)

    assert await world.count("notifications") == 0
    assert await world.count("incidents") == 1


async def test_flapping_is_told_once_and_then_nothing_until_it_is_steady(
    world: World, desk: AlertDesk
) -> None:
    chat = await desk.add_channel()
    for _ in range(8):
        await desk.find(violated(world))
        await desk.pass_time(minutes=2)
        await desk.find(met(world))
        await desk.pass_time(minutes=2)

    kinds = [message.kind.value for message in chat.messages]
    assert kinds == ["opened", "resolved", "opened", "flapping"]

    await desk.pass_time(minutes=35, step=MINUTE)
    assert chat.messages[-1].kind == "resolved"


async def test_a_silence_holds_messages_back_until_it_ends(world: World, desk: AlertDesk) -> None:
    chat = await desk.add_channel()
    await add_silence(world, match=json.dumps({"labels": {"app": "shop"}}))
    await desk.find(
        violated(world, labels={"app": "shop"}), violated(world, rule="other", job="loud")
    )
    await desk.pass_time(minutes=59, step=MINUTE)
    assert chat.told == [("opened", "loud: failure_streak")]

    await desk.pass_time(minutes=2, step=MINUTE)
    assert chat.told[1:] == [("opened", "report: failure_streak")]


async def test_an_incident_that_ends_while_silenced_is_never_told(
    world: World, desk: AlertDesk
) -> None:
    chat = await desk.add_channel()
    await add_silence(world)
    await desk.find(violated(world))
    await desk.pass_time(minutes=10, step=MINUTE)
    await desk.find(met(world))
    await desk.pass_time(minutes=60, step=MINUTE)

    assert chat.messages == []


async def test_a_silence_that_begins_later_stops_repeats(world: World, desk: AlertDesk) -> None:
    chat = await desk.add_channel("chat", is_default=False)
    await add_route(world, "team", {"to": ["chat"], "repeat": "PT10M"})
    await desk.find(violated(world, route="team"))
    await add_silence(
        world, starts_at=world.now + 5 * MINUTE, ends_at=world.now + timedelta(minutes=35)
    )
    await desk.pass_time(minutes=34, step=MINUTE)
    assert len(chat.messages) == 1

    await desk.pass_time(minutes=5, step=MINUTE)
    assert [message.kind for message in chat.messages] == ["opened", "repeated"]


async def test_a_silence_by_calendar_holds_on_its_days_only(world: World, desk: AlertDesk) -> None:
    chat = await desk.add_channel()
    tomorrow = (world.now + timedelta(days=1)).date().isoformat()
    await world.conn.execute(
        "insert into rota.calendars (tenant_id, name, body) values (1, 'patching', $1)",
        json.dumps({"name": "patching", "timezone": "UTC", "dates": [tomorrow]}),
    )
    await add_silence(world, calendar="patching", ends_at=world.now + timedelta(days=365))
    await desk.find(violated(world))
    await desk.work()
    assert len(chat.messages) == 1

    await desk.pass_time(hours=13, step=timedelta(hours=1))
    await desk.find(violated(world, rule="next day"))
    await desk.pass_time(hours=5, step=timedelta(hours=1))
    assert len(chat.messages) == 1

    await desk.pass_time(hours=19, step=timedelta(hours=1))
    assert len(chat.messages) == 2


async def test_many_processes_plan_and_send_each_message_once(
    world: World, desk: AlertDesk, database: str
) -> None:
    await desk.add_channel(messages_per_hour=1000)
    chat = desk.channels["chat"]
    await desk.find(*(violated(world, rule=f"rule {number}") for number in range(60)))

    async def work() -> None:
        conn = await asyncpg.connect(database)
        try:
            await plan_due_groups(conn, now=world.now)
            claimed = await claim_messages(conn, "chat", now=world.now)
            for message in claimed.messages:
                await chat.send(_dummy(message.notification.id))
                await record_result(conn, message, ChannelResult(), now=world.now)
        finally:
            await conn.close()

    for _ in range(30):
        await asyncio.gather(*(work() for _ in range(4)))
        await world.advance(seconds=30)

    ids = [message.notification_id for message in chat.messages]
    assert len(ids) == len(set(ids))
    assert await world.count("notifications") >= 60


def _dummy(notification_id: Any) -> Any:
    class Sent:
        def __init__(self) -> None:
            self.notification_id = notification_id

    return Sent()


async def test_a_failed_message_is_tried_again_after_growing_pauses(
    world: World, desk: AlertDesk
) -> None:
    chat = await desk.add_channel()
    chat.results = [ChannelResult(error="503")] * 2
    await desk.find(violated(world))
    await desk.work()
    row = await desk.read_row("select * from rota.notifications")
    assert (row["state"], row["error"], row["next_at"]) == (
        "pending",
        "503",
        world.now + RETRY_FIRST,
    )

    await desk.pass_time(seconds=10)
    await desk.pass_time(seconds=15)
    assert chat.messages == []
    await desk.pass_time(seconds=5)

    assert len(chat.messages) == 1
    assert await world.conn.fetchval("select attempts from rota.notifications") == 3


async def test_a_receiver_may_ask_for_more_time(world: World, desk: AlertDesk) -> None:
    chat = await desk.add_channel()
    chat.results = [ChannelResult(error="429", retry_after_s=120)]
    await desk.find(violated(world))
    await desk.work()

    next_at = await world.conn.fetchval("select next_at from rota.notifications")
    assert next_at == world.now + timedelta(seconds=120)


async def test_a_message_is_given_up_after_a_day(world: World, desk: AlertDesk) -> None:
    chat = await desk.add_channel()
    chat.results = [ChannelResult(error="503")] * 1000
    await desk.find(violated(world))
    await desk.pass_time(hours=26, step=timedelta(minutes=10))

    state = await world.conn.fetchval(
        "select state from rota.notifications where kind = 'opened' order by created_at limit 1"
    )
    assert state == "failed"


async def test_a_message_for_a_channel_that_no_process_has_is_given_up_after_a_day(
    world: World, desk: AlertDesk
) -> None:
    await desk.find(violated(world, route="nowhere"))
    await desk.work()
    await world.advance(hours=25)
    await NotificationExpirer(source=desk.source, clock=desk.clock).tick()

    row = await desk.read_row("select state, error from rota.notifications")
    assert tuple(row) == ("failed", "no process has this channel")


async def test_a_failing_channel_is_reported_through_the_others(
    world: World, desk: AlertDesk
) -> None:
    broken, mail = await desk.add_channel("broken"), await desk.add_channel("mail")
    broken.results = [ChannelResult(error="401 invalid token", final=True)]
    await desk.find(violated(world))
    await desk.work()
    await desk.work()

    titles = [message.title for message in mail.messages]
    assert titles == ["report: failure_streak", "Channel broken does not accept messages"]
    assert mail.messages[1].items[0].error == "401 invalid token"
    incident = next(
        row for row in await desk.read_incidents() if row["condition"] == "channel_failing"
    )
    assert incident["tenant_id"] == 0
    assert broken.messages == []

    await world.advance(minutes=2)
    await desk.find(violated(world, rule="another"))
    await desk.pass_time(minutes=3, step=10 * SECOND)

    assert ("resolved", "Channel broken does not accept messages") in mail.told
    assert [message.title for message in broken.messages] == ["report: failure_streak"]


async def test_a_channel_that_raises_counts_as_failed(world: World, desk: AlertDesk) -> None:
    class Raising(RememberingChannel):
        async def send(self, _message: AlertMessage, /) -> ChannelResult:
            raise ValueError("broken plug-in")

    await desk.add_channel()
    desk.channels["chat"] = Raising()
    await desk.find(violated(world))
    await desk.work()

    row = await desk.read_row("select state, error from rota.notifications")
    assert tuple(row) == ("pending", "broken plug-in")


async def test_thousands_of_incidents_of_as_many_rules_send_a_few_messages(
    world: World, desk: AlertDesk
) -> None:
    chat = await desk.add_channel()
    await desk.find(
        *(violated(world, rule=f"rule {number}", job=f"job {number}") for number in range(STORM))
    )
    for _ in range(12):
        await desk.work()
        await world.advance(seconds=5)

    assert len(chat.messages) <= 12
    digest = next(message for message in chat.messages if message.kind == "digest")
    assert digest.title == f"{STORM - 3} incidents in {STORM - 3} rules"
    assert (len(digest.items), digest.more) == (20, STORM - 23)
    assert await world.count("notifications") == STORM + 1


async def test_thousands_of_incidents_of_one_rule_send_one_message_at_once(
    world: World, desk: AlertDesk
) -> None:
    chat = await desk.add_channel()
    await desk.find(*(violated(world, job=f"job {number}") for number in range(STORM)))
    await desk.work()

    (message,) = chat.messages
    assert message.title == f"failing: {STORM} incidents"
    assert (len(message.items), message.more) == (20, STORM - 20)


async def test_a_storm_that_ends_stays_within_the_limits_of_an_hour(
    world: World, desk: AlertDesk
) -> None:
    chat = await desk.add_channel()
    rules = [f"rule {number}" for number in range(200)]
    await desk.find(*(violated(world, rule=rule) for rule in rules))
    await desk.pass_time(minutes=10, step=30 * SECOND)
    await desk.find(*(met(world, rule=rule) for rule in rules))
    await desk.pass_time(minutes=49, step=30 * SECOND)

    kinds = [message.kind.value for message in chat.messages]
    assert kinds.count("digest") <= 4
    assert len(kinds) - kinds.count("digest") <= 30
    waiting = await world.conn.fetchval(
        "select count(*) from rota.notifications where state = 'pending'"
    )
    assert waiting == 0


async def test_pages_keep_a_reserve_in_a_storm(world: World, desk: AlertDesk) -> None:
    chat = await desk.add_channel(messages_per_hour=5)
    await desk.find(*(violated(world, rule=f"rule {number}") for number in range(20)))
    await desk.pass_time(minutes=10, step=10 * SECOND)
    in_storm = len(chat.messages)

    await desk.find(violated(world, rule="bad", severity=Severity.PAGE))
    await desk.work()

    assert chat.messages[in_storm].severity is Severity.PAGE
    assert [message.kind.value for message in chat.messages].count("digest") == 1


class _Killed(BaseException):
    """A process that ends without doing anything more."""


@pytest.mark.parametrize("step", ["before planning commits", "before claiming commits", "claimed"])
async def test_a_process_that_ends_before_sending_loses_nothing_and_sends_once(
    world: World, desk: AlertDesk, database: str, step: str
) -> None:
    chat = await desk.add_channel()
    await desk.find(violated(world))
    other = await asyncpg.connect(database)
    await other.execute("select set_config('rota.now', $1, false)", world.now.isoformat())
    planning = other.transaction()
    await planning.start()
    await plan_due_groups(other, now=world.now)
    if step != "before planning commits":
        await planning.commit()
        claiming = other.transaction()
        await claiming.start()
        await claim_messages(other, "chat", now=world.now)
        if step == "claimed":
            await claiming.commit()
    other.terminate()

    async def is_gone() -> bool:
        return bool(
            await world.conn.fetchval(
                "select count(*) = 1 from pg_stat_activity where datname = current_database()"
            )
        )

    await until(is_gone)
    await desk.work()
    if step == "claimed":
        assert chat.messages == []
    await desk.pass_time(seconds=LEASE.total_seconds() + 5)

    assert len(chat.messages) == 1
    assert await world.count("notifications") == 1


async def test_a_process_that_ends_between_sending_and_recording_sends_again_with_the_same_key(
    world: World, desk: AlertDesk
) -> None:
    class Killing(RememberingChannel):
        async def send(self, message: AlertMessage, /) -> ChannelResult:
            await super().send(message)
            raise _Killed

    chat = Killing()
    await desk.add_channel()
    await desk.find(violated(world))
    await desk.planner.tick()
    sender = NotificationSender(
        name="chat", channel=chat, source=desk.source, clock=WorldClock(world)
    )
    with pytest.raises(_Killed):
        await sender.tick()

    desk.channels["chat"] = second = RememberingChannel()
    await desk.pass_time(seconds=LEASE.total_seconds() + 5)

    assert [message.notification_id for message in chat.messages] == [
        message.notification_id for message in second.messages
    ]
    assert await world.conn.fetchval("select attempts from rota.notifications") == 2


async def test_what_ended_long_ago_is_deleted_and_open_incidents_stay(
    world: World, desk: AlertDesk
) -> None:
    await desk.add_channel()
    await desk.find(violated(world), violated(world, job="other"))
    await add_silence(world)
    await desk.pass_time(minutes=1)
    await desk.find(met(world))
    await desk.pass_time(minutes=5, step=MINUTE)
    pruner = IncidentPruner(source=desk.source, clock=desk.clock, keep=timedelta(days=30))
    await world.advance(days=29)
    await pruner.tick()
    assert await world.count("incidents") == 2

    await world.advance(days=4)
    await pruner.tick()

    assert [row["subject_name"] for row in await desk.read_incidents()] == ["other"]
    assert await world.count("notifications") == 0
    assert await world.count("silences") == 0
    assert await world.count("alert_states") == 1
    assert await world.count("incident_events") <= 2


async def test_a_late_sender_records_nothing(world: World, desk: AlertDesk) -> None:
    await desk.add_channel()
    await desk.find(violated(world))
    await desk.planner.tick()
    first = await claim_messages(world.conn, "chat", now=world.now)
    await world.move_to(world.now + LEASE + SECOND)
    second = await claim_messages(world.conn, "chat", now=world.now)
    assert len(first.messages) == len(second.messages) == 1

    await record_result(world.conn, first.messages[0], ChannelResult(), now=world.now)
    assert await world.conn.fetchval("select state from rota.notifications") == "sending"
    await record_result(world.conn, second.messages[0], ChannelResult(), now=world.now)
    assert await world.conn.fetchval("select state from rota.notifications") == "sent"
