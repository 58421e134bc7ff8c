"""What must be true afterwards: nothing failed, was quarantined, lost, or happened twice."""

from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

from tests.upgrade.fleet import Fleet, until

SECOND = timedelta(seconds=1)
TICKS = """
select j.name, r.scheduled_at, r.state::text
from (
    select job_id, scheduled_at, state, trigger from rota.live_runs
    union all select job_id, scheduled_at, state, trigger from rota.runs
) as r
inner join rota.jobs as j on j.id = r.job_id
where j.name like 'tick %' and r.trigger = 'tick'
order by j.name, r.scheduled_at
"""
STATES = "select id, state::text from rota.runs where id = any($1::uuid[])"
OF_JOBS = "select job_id, state::text from rota.runs where job_id = any($1::uuid[])"
OVERDUE = "select count(*) from rota.scheduled_runs where due_at < rota.now() + interval '1 day'"
WAITING = "select count(*) from rota.scheduled_runs where name = any($1::text[])"
UNFINISHED = """
select k.name, l.state::text, count(*) from rota.live_runs as l
inner join rota.kinds as k on k.id = l.kind_id
group by 1, 2 order by 1, 2
"""
OTHERS = "select state::text, count(*) from rota.runs where state <> 'succeeded' group by 1"
JOBS = "select name, state::text from rota.jobs where state = 'quarantined'"
CURSORS = """
select c.tick_at from rota.cursors as c inner join rota.jobs as j on j.id = c.job_id
where j.name like 'tick %'
"""


def uuid_of(run_id: str) -> UUID:
    return UUID(run_id.partition("_")[2])


async def until_done(fleet: Fleet) -> None:
    """Every run has ended; nobody fires any more."""
    await until(lambda: _is_done(fleet), "every run has ended")


async def _is_done(fleet: Fleet) -> bool:
    for each in fleet.running:
        fleet.check_alive(each)
    return not await fleet.conn.fetch(UNFINISHED)


async def check_submitted(fleet: Fleet, acknowledged: list[str]) -> None:
    """What was acknowledged is there once, and has succeeded."""
    ids = [uuid_of(each) for each in acknowledged]
    assert len(set(ids)) == len(ids), "two submissions were answered with one run"
    found = dict(await fleet.conn.fetch(STATES, ids))
    lost = [str(each) for each in ids if each not in found]
    assert not lost, f"acknowledged and lost: {lost[:5]} of {len(lost)}"
    states = Counter(found.values())
    assert set(states) == {"succeeded"}, states


async def check_delayed(fleet: Fleet, acknowledged: list[str]) -> None:
    """What was acknowledged for a moment later has become one run, which has succeeded."""
    ids = [uuid_of(each) for each in acknowledged]
    assert ids, "nothing was submitted for later"
    rows = await fleet.conn.fetch(OF_JOBS, ids)
    runs = Counter(row[0] for row in rows)
    wrong = [f"{each} has {runs[each]} runs" for each in ids if runs[each] != 1]
    assert not wrong, f"lost or doubled: {wrong[:5]} of {len(wrong)}"
    assert {row[1] for row in rows} == {"succeeded"}


async def count_waiting(fleet: Fleet, names: list[str]) -> int:
    """How many submissions of these names wait for their time."""
    return int(await fleet.conn.fetchval(WAITING, names))


async def until_taken(fleet: Fleet) -> None:
    """No submission of the load waits for its time any more."""
    await until(lambda: _is_taken(fleet), "submissions that are due have become runs")


async def _is_taken(fleet: Fleet) -> bool:
    return not await fleet.conn.fetchval(OVERDUE)


async def check_ticks(fleet: Fleet, *, since: datetime) -> int:
    """Every second of every ticking job is one run; returns how many there were."""
    rows = await fleet.conn.fetch(TICKS)
    ends = {row[0] for row in await fleet.conn.fetch(CURSORS)}
    by_job: dict[str, list[Any]] = {}
    for name, at, state in rows:
        assert state == "succeeded", (name, at, state)
        by_job.setdefault(name, []).append(at)
    for name, times in by_job.items():
        gaps = [(a, b) for a, b in pairwise(times) if b - a != SECOND]
        assert not gaps, f"{name}: ticks lost or doubled at {gaps[:3]}"
        assert times[0] <= since + 2 * SECOND, f"{name} began late: {times[0]}"
        assert times[-1] + SECOND in ends, f"{name} ended early: {times[-1]}, cursors at {ends}"
    return len(rows)


async def check_nothing_failed(fleet: Fleet) -> None:
    assert await fleet.conn.fetch(JOBS) == []
    assert [tuple(row) for row in await fleet.conn.fetch(OTHERS)] == []
    assert fleet.faults() == []


def check_starts(fleet: Fleet) -> None:
    """No handler started twice: no process died, so there was no reason to."""
    lines = fleet.starts.read_text().splitlines()
    twice = [run for run, number in Counter(lines).items() if number > 1]
    assert not twice, f"started twice: {twice[:5]}"
