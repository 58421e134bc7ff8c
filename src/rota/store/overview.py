"""What an operator wants to see at a glance. Reads only, never on the hot path. Room: store."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from rota.core.ids import stamped
from rota.core.states import JobState, RunState
from rota.store.driver import Connection
from rota.store.fitness import database_time
from rota.store.sessions import Role
from rota.store.statement import statement

# Runs are found by the time in their ids, which is when they were due, not when they ended.
LONGEST_RUN: Final = timedelta(hours=1)
RECENT: Final = timedelta(minutes=5)


class Node(NamedTuple):
    role: Role
    name: str
    slots: int
    running: int
    draining: bool
    started_at: datetime
    beat_at: datetime
    shards: int


class Queue(NamedTuple):
    name: str
    is_paused: bool
    ready: int
    later: int
    running: int
    oldest_at: datetime | None


class Ended(NamedTuple):
    state: RunState
    number: int


class Latest(NamedTuple):
    """A run that ended; without a name its job is gone."""

    name: str | None
    state: RunState
    attempt: int
    started_at: datetime | None
    finished_at: datetime
    reason: str | None


class Jobs(NamedTuple):
    state: JobState
    number: int
    next_at: datetime | None


class Overview(NamedTuple):
    """The cluster at one moment, by the database's clock; `ended` is of the last five minutes."""

    now: datetime
    nodes: list[Node]
    queues: list[Queue]
    jobs: list[Jobs]
    ended: list[Ended]


NODES = statement("overview/nodes", Node)
QUEUES = statement("overview/queues", Queue)
ENDINGS = statement("overview/endings", Ended)
JOBS = statement("overview/jobs", Jobs)
LATEST = statement("overview/latest", Latest)


async def overview(conn: Connection) -> Overview:
    now = await database_time(conn)
    from_id = stamped(now - RECENT - LONGEST_RUN, bytes(10))
    return Overview(
        now=now,
        nodes=await NODES.all(conn),
        queues=await QUEUES.all(conn),
        jobs=await JOBS.all(conn),
        ended=await ENDINGS.all(conn, from_id=from_id, since=now - RECENT),
    )


async def latest(conn: Connection, *, since: datetime, most: int = 100) -> list[Latest]:
    """The runs that ended after a time, oldest first."""
    from_id = stamped(since - LONGEST_RUN, bytes(10))
    return await LATEST.all(conn, from_id=from_id, since=since, most=most)
