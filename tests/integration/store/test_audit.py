"""The audit log tells every change, belongs to its tenant and is never rewritten (T3)."""

import json
from datetime import timedelta

import pytest
from tests.support.world import World

from rota.core.errors import StoreFailed
from rota.store import audit
from rota.store.audit import AuditFilter, NewAuditEntry
from rota.store.error_translation import translate_errors
from rota.store.transaction import transaction


async def noted(world: World, **given: object) -> None:
    values: dict[str, object] = {
        "tenant_id": 1,
        "actor": "anna",
        "action": "create",
        "thing": "job",
        "thing_id": "j1",
    }
    await audit.record_change(world.conn, NewAuditEntry(**(values | given)))  # type: ignore[arg-type]


async def test_an_entry_says_who_did_what_to_what_and_from_where(world: World) -> None:
    key_id = world.new_id()

    await noted(
        world,
        key_id=key_id,
        source="2001:db8::1",
        before={"priority": 5},
        after={"priority": 7},
        request_id="r1",
    )

    (entry,) = await audit.list_entries(world.conn, tenant_id=1)
    assert (entry.at, entry.actor, entry.key_id) == (world.now, "anna", key_id)
    assert (entry.source, entry.request_id) == ("2001:db8::1", "r1")
    assert (entry.action, entry.thing, entry.thing_id) == ("create", "job", "j1")
    assert json.loads(entry.before or "") == {"priority": 5}
    assert json.loads(entry.after or "") == {"priority": 7}


async def test_a_change_that_is_undone_is_not_in_the_log(world: World) -> None:
    async def change() -> None:
        async with transaction(world.conn):
            await noted(world)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await change()

    assert await audit.list_entries(world.conn, tenant_id=1) == []


async def test_pages_go_back_in_time_and_keep_to_their_tenant(world: World) -> None:
    for number in range(5):
        await noted(world, thing_id=f"j{number}")
        await noted(world, tenant_id=2, thing_id="foreign")

    first = await audit.list_entries(world.conn, tenant_id=1, limit=3)
    second = await audit.list_entries(world.conn, tenant_id=1, after=first[-1].id, limit=3)

    assert [entry.thing_id for entry in [*first, *second]] == ["j4", "j3", "j2", "j1", "j0"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (AuditFilter(thing="job"), ["a", "b"]),
        (AuditFilter(thing="job", thing_id="b"), ["b"]),
        (AuditFilter(actor="ben"), ["b"]),
        (AuditFilter(actions=("delete",)), ["c"]),
        (AuditFilter(actor="ben", actions=("delete",)), []),
    ],
)
async def test_a_filter_shows_what_was_asked_for(
    world: World, given: AuditFilter, expected: list[str]
) -> None:
    await noted(world, thing_id="a")
    await noted(world, thing_id="b", actor="ben")
    await noted(world, thing_id="c", thing="key", action="delete")

    found = await audit.list_entries(world.conn, tenant_id=1, filter=given)

    assert sorted(entry.thing_id for entry in found) == expected


async def test_a_filter_takes_a_span_of_time_with_its_start_and_without_its_end(
    world: World,
) -> None:
    start = world.now
    for hour in range(3):
        await noted(world, thing_id=str(hour))
        await world.advance(hours=1)

    span = AuditFilter(since=start + timedelta(hours=1), until=start + timedelta(hours=2))
    found = await audit.list_entries(world.conn, tenant_id=1, filter=span)

    assert [entry.thing_id for entry in found] == ["1"]


@pytest.mark.parametrize(
    "statement",
    [
        "update rota.audit set actor = 'nobody'",
        "delete from rota.audit",
        "delete from rota.audit where id < 0",
        "truncate rota.audit",
        "with gone as (delete from rota.audit returning id) select count(*) from gone",
    ],
)
async def test_not_even_the_owner_rewrites_the_log(world: World, statement: str) -> None:
    await noted(world)

    with pytest.raises(StoreFailed, match="only ever added to"), translate_errors():
        await world.conn.execute(statement)

    (entry,) = await audit.list_entries(world.conn, tenant_id=1)
    assert entry.actor == "anna"


async def test_a_body_that_is_too_large_is_kept_as_its_hash(world: World) -> None:
    await noted(world, before={"x": "y" * 100}, after={"x": "y" * 20_000})

    (entry,) = await audit.list_entries(world.conn, tenant_id=1)
    assert json.loads(entry.before or "") == {"x": "y" * 100}
    assert set(json.loads(entry.after or "")) == {"length", "sha256"}


@pytest.mark.parametrize("value", ["a\x00b", "back\\u0000slash", {"nested": ["\x00"]}])
async def test_what_jsonb_cannot_hold_does_not_stop_a_change(world: World, value: object) -> None:
    await noted(world, after=value)

    (entry,) = await audit.list_entries(world.conn, tenant_id=1)
    assert entry.after is not None
