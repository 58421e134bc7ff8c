"""Refuses `exactly_once` for kinds that cannot provide it, before a job is written (E2).

Room: flow/submit. The rule is core/guarantees.py; what the kinds of handlers and plug-ins can do
was stored by the workers that serve them. A kind that no worker has described yet is accepted: its
first attempt decides (flow/execute/exactly_once.py).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rota.contract.graph import read_graph
from rota.contract.policy import read_stored_policy
from rota.core.guarantees import Wanted, check_guarantee, refuse_exactly_once
from rota.core.outcome import Guarantee
from rota.core.policy import Policy
from rota.store import kinds
from rota.store.driver import Connection
from rota.store.jobs import Job


def exactly_once_kinds(kind: str, policy: Policy, graph: object = None) -> tuple[Wanted, ...]:
    """The kinds of a job and its steps that are to be exactly once; the built-in ones are refused.

    A graph is read only if a step may ask for it.
    """
    asks = graph is not None and Guarantee.EXACTLY_ONCE.value in str(graph)
    if policy.guarantee is not Guarantee.EXACTLY_ONCE and not asks:
        return ()
    return tuple(check_guarantee(kind, policy, read_graph(graph) if asks else None))


async def refuse_incapable_kinds(conn: Connection, wanted: Sequence[Wanted]) -> None:
    """Refuse kinds whose workers said that they cannot complete runs in a transaction."""
    if not wanted:
        return
    incapable = await kinds.without_exactly_once(conn, {each.kind for each in wanted})
    for each in wanted:
        if each.kind in incapable:
            raise refuse_exactly_once(each)


async def refuse_incapable_edit(conn: Connection, job: Job, changed: Mapping[str, Any]) -> None:
    """The same for a job whose kind, policy or graph is to be another. What an edit does not touch
    is not looked at: a job of an earlier release can still be renamed or paused.
    """
    if not changed:
        return
    policy = changed.get("policy") or read_stored_policy(json.loads(job.policy))
    kind = changed.get("kind")
    if kind is None and policy.guarantee is Guarantee.EXACTLY_ONCE:
        kind = await kinds.name_of(conn, job.kind_id)
    wanted = exactly_once_kinds(kind or "", policy, changed.get("graph"))
    await refuse_incapable_kinds(conn, wanted)
