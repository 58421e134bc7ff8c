"""Hands in what carries a uniqueness rule: one of many becomes a run, the others find it (E16).

Room: flow/submit. In a transaction of the caller's, each key is taken first and locked, then the
one who took it before is looked at, then something is made or not. Keys are taken in the order of
their hashes, so that two batches with the same keys wait for each other and do not deadlock. When a
key is still held is core/uniqueness.py; jobs are written by submitting.py, runs by triggering.py.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.errors import Conflict, InvalidInput
from rota.core.submission import filled
from rota.core.uniqueness import OnConflict, Standing, Unique, digest, is_held
from rota.store import live_runs, unique
from rota.store.driver import Connection
from rota.store.live_runs import NewRun
from rota.store.unique import Holder, Wish

NO_TIME: Final = timedelta(0)


class Handed(NamedTuple):
    """What became of a submission: a run that was made, or the one that was there before. A run
    that was there may have been made anew with what was handed in.
    """

    job_id: UUID
    run_id: UUID
    made: bool
    replaced: bool = False


class Asked(NamedTuple):
    """A run that is to be made, and the key of its rule if it has one."""

    run: NewRun
    rule: Unique | None = None
    key: str = ""


class NewHolder(NamedTuple):
    """A job that is to be made; `run_id` is its run if that is made together with it."""

    tenant_id: int
    job_id: UUID
    run_id: UUID | None
    rule: Unique
    key: str


def key_of(rule: Unique | None, payload: object) -> str:
    """The key of a submission with this payload; of one without a rule it does not matter."""
    return "" if rule is None else filled(rule.key, payload, "unique.key")


def key_of_job(rule: Unique | None, payload: object) -> str:
    """The same for a job. Replacing is for runs: a job that is there is changed by an edit."""
    if rule is not None and rule.on_conflict is OnConflict.REPLACE:
        wanted = "return or reject for a job; the runs of a job may replace each other"
        raise InvalidInput("unique.on_conflict", rule.on_conflict.value, wanted)
    return key_of(rule, payload)


async def hand_in(conn: Connection, asked: Sequence[Asked]) -> list[Handed]:
    """Make these runs as far as their keys are free; an answer for each, in their order."""
    plain = [each.run for each in asked if each.rule is None]
    made = set(await live_runs.insert_many(conn, plain) if plain else [])
    answers = [Handed(run.job_id, run.id, run.id in made) for run, _, _ in asked]
    hashed = [(digest(each.key), place) for place, each in enumerate(asked) if each.rule]
    for hash_, place in sorted(hashed):
        answers[place] = await _hand_in_one(conn, asked[place], hash_)
    return answers


async def find_jobs(conn: Connection, wanted: Sequence[NewHolder]) -> dict[UUID, Holder]:
    """Take the keys of jobs that are about to be written; of those whose key is held, by the id
    they would have had, who holds it.
    """
    found: dict[UUID, Holder] = {}
    hashed = [(each.tenant_id, digest(each.key), place) for place, each in enumerate(wanted)]
    for tenant_id, hash_, place in sorted(hashed):
        each = wanted[place]
        hold = each.rule.within or NO_TIME
        wish = Wish(tenant_id, hash_, each.job_id, each.run_id, hold)
        holder = await _taken(conn, wish, each.rule)
        if holder is not None and each.rule.on_conflict is OnConflict.REJECT:
            raise _conflict(holder[0], each.key)
        if holder is not None:
            found[each.job_id] = holder[0]
    return found


async def _hand_in_one(conn: Connection, asked: Asked, hash_: bytes) -> Handed:
    run, rule, key = asked
    if rule is None:
        raise TypeError("a run without a rule has no key to take")
    wish = Wish(run.tenant_id, hash_, run.job_id, run.id, rule.within or NO_TIME)
    taken = await _taken(conn, wish, rule)
    if taken is None:
        return Handed(run.job_id, run.id, run.id in await live_runs.insert_many(conn, [run]))
    holder, standing = taken
    if rule.on_conflict is OnConflict.REPLACE:
        return await _replace(conn, run, holder, key)
    if rule.on_conflict is OnConflict.REJECT or holder.run_id is None:
        # A job that waits for its tick has no run yet that could be returned.
        raise _conflict(holder, key, standing)
    return Handed(holder.job_id, holder.run_id, made=False)


async def _taken(conn: Connection, wish: Wish, rule: Unique) -> tuple[Holder, Standing] | None:
    """Who holds a key; None if it is ours now."""
    holder = await unique.take(conn, wish)
    if holder is None:
        return None
    standing = await unique.standing(conn, holder, tenant_id=wish.tenant_id)
    if is_held(standing, rule.held_while):
        return holder, standing
    await unique.hand_over(conn, wish)
    return None


async def _replace(conn: Connection, run: NewRun, holder: Holder, key: str) -> Handed:
    """Only what waits for its first attempt can become something else; what was handed in must not
    be lost in silence.
    """
    id_ = holder.run_id
    if id_ is None or not await unique.replace(conn, id_, run):
        raise _conflict(holder, key)
    return Handed(run.job_id, id_, made=False, replaced=True)


def _conflict(holder: Holder, key: str, standing: Standing | None = None) -> Conflict:
    thing = f"job {holder.job_id}" if holder.run_id is None else f"run {holder.run_id}"
    begun = standing is not None and standing.runs
    return Conflict(thing, f"holds the unique key {key!r}" + (" and runs" if begun else ""))
