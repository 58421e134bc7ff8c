"""Dead letters: list, look at them together, let them go again, drop them. Room: api/resources."""

from datetime import timedelta
from typing import Final

from rota.api import identifiers
from rota.api.bulk import bulk_filter, counted_reply, done_reply, needed
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import Page
from rota.api.resources.runs import filter_of, listed
from rota.api.resources.shared import audited, instant
from rota.api.shapes.pieces import moment
from rota.api.shapes.runs import (
    BulkDone,
    BulkDraft,
    DeadGroups,
    DeadGroupsQuery,
    DeadGroupView,
    ReplayManyDraft,
    RunsQuery,
    RunView,
)
from rota.core.access import Permission
from rota.flow.submit import reviving
from rota.flow.submit.reviving import AT_ONCE, Pace
from rota.store import hints, run_views

# Dead letters are shown of this time unless it is said.
LATELY: Final = timedelta(days=30)


@operation(
    "GET",
    "/v1/dead-letters",
    tag="dead letters",
    permission=Permission.READ,
    query=RunsQuery,
    answer=Page[RunView],
    problems=("malformed_request", "not_found"),
)
async def list_dead_letters(call: Call) -> Reply:
    """Runs that need somebody to look: dead, lost or quarantined."""
    chosen, filters = filter_of(call.query)
    return await listed(call, chosen, ["dead", *filters], dead=True)


@operation(
    "GET",
    "/v1/dead-letters/groups",
    tag="dead letters",
    permission=Permission.READ,
    query=DeadGroupsQuery,
    answer=DeadGroups,
)
async def list_dead_groups(call: Call) -> Reply:
    """Dead letters that died alike, counted together, the last seen first."""
    since = instant(call.query.since, "since") or call.now - LATELY
    found = await run_views.dead_groups(
        call.conn, tenant_id=call.tenant_id, since=since, limit=call.query.limit
    )
    return Reply(
        DeadGroups(
            data=[
                DeadGroupView(
                    job_id=identifiers.job(each.job_id),
                    job_name=each.job,
                    error_type=each.type,
                    message=each.message,
                    count=each.number,
                    first_seen=moment(each.first_at),
                    last_seen=moment(each.last_at),
                    sample_run_id=identifiers.run(each.sample_id),
                )
                for each in found
            ]
        )
    )


@operation(
    "POST",
    "/v1/dead-letters/replay",
    tag="dead letters",
    permission=Permission.OPERATE,
    body=ReplayManyDraft,
    answer=BulkDone,
    example={"filter": {"error": "TimeoutError"}, "dry_run": True},
)
async def replay_dead_letters(call: Call) -> Reply:
    """Let dead letters go again: a dry run answers how many, and the token to do it."""
    which, token = bulk_filter(call.body), call.body.token
    if call.body.dry_run:
        counted = await reviving.count_dead(
            call.conn, which, action=reviving.REPLAY, tenant_id=call.tenant_id, now=call.now
        )
        return counted_reply(counted)
    done = await reviving.replay_dead(
        call.conn,
        which,
        tenant_id=call.tenant_id,
        token=needed(token),
        by=call.actor,
        pace=pace_of(call.body),
    )
    await audited(call, "dead.replay", "run", "many", {"number": len(done.ids)})
    call.hints.add(hints.RUNS)
    return done_reply(done)


def pace_of(draft: ReplayManyDraft) -> Pace:
    if draft.per_minute is None:
        return AT_ONCE
    return Pace(spacing=timedelta(minutes=1) / draft.per_minute, before=draft.before)


@operation(
    "POST",
    "/v1/dead-letters/drop",
    tag="dead letters",
    permission=Permission.OPERATE,
    body=BulkDraft,
    answer=BulkDone,
    example={"filter": {"error": "TimeoutError"}, "dry_run": True},
)
async def drop_dead_letters(call: Call) -> Reply:
    """Take dead letters off the list: a dry run answers how many, and the token to do it."""
    which, token = bulk_filter(call.body), call.body.token
    if call.body.dry_run:
        counted = await reviving.count_dead(
            call.conn, which, action=reviving.DROP, tenant_id=call.tenant_id, now=call.now
        )
        return counted_reply(counted)
    done = await reviving.drop_dead(
        call.conn, which, tenant_id=call.tenant_id, token=needed(token), by=call.actor
    )
    await audited(call, "dead.drop", "run", "many", {"number": len(done.ids)})
    return done_reply(done)


@operation(
    "DELETE",
    "/v1/dead-letters/{run_id}",
    tag="dead letters",
    permission=Permission.OPERATE,
    status=204,
    problems=("illegal_move",),
)
async def drop_dead_letter(call: Call) -> Reply:
    """Take one dead letter off the list; the run stays in history."""
    run_id = identifiers.read("run_id", call.params["run_id"])
    await reviving.drop(call.conn, tenant_id=call.tenant_id, run_id=run_id, by=call.actor)
    await audited(call, "dead.drop", "run", identifiers.run(run_id))
    return Reply()
