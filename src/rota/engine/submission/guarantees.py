"""Refuses `exactly_once` for kinds that cannot provide it, before a job is written (E2).

The rule is in core/guarantees.py. The workers that serve a kind have stored whether it can complete
runs in a transaction. A kind that no worker has described yet is accepted; its first attempt
decides (engine/execution).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rota.contract.graph import read_graph
from rota.contract.policy import read_stored_policy
from rota.core.guarantees import ExactlyOnceRequest, build_exactly_once_error, check_guarantee
from rota.core.outcome import Guarantee
from rota.core.policy import Policy
from rota.store import kinds
from rota.store.driver import Connection
from rota.store.jobs import StoredJob


def exactly_once_kinds(
    kind: str, policy: Policy, graph: object = None
) -> tuple[ExactlyOnceRequest, ...]:
    """Return the kinds of a job and its steps that must be exactly once. Refuse built-in kinds.

    The graph is parsed only if one of its steps may request exactly once.
    """
    mentions_it = graph is not None and Guarantee.EXACTLY_ONCE.value in str(graph)
    if policy.guarantee is not Guarantee.EXACTLY_ONCE and not mentions_it:
        return ()
    return tuple(check_guarantee(kind, policy, read_graph(graph) if mentions_it else None))


async def refuse_incapable_kinds(conn: Connection, wanted: Sequence[ExactlyOnceRequest]) -> None:
    """Refuse kinds whose workers reported that they cannot complete runs in a transaction."""
    if not wanted:
        return
    incapable = await kinds.find_without_exactly_once(conn, {use.kind for use in wanted})
    for use in wanted:
        if use.kind in incapable:
            raise build_exactly_once_error(use)


async def refuse_incapable_edit(
    conn: Connection, job: StoredJob, changed: Mapping[str, Any]
) -> None:
    """Refuse an edit of kind, policy or graph that the kind cannot support. Fields that the edit
    keeps are not checked, so a job of an earlier release can still be renamed or paused.
    """
    if not changed:
        return
    policy = changed.get("policy") or read_stored_policy(json.loads(job.policy))
    kind = changed.get("kind")
    if kind is None and policy.guarantee is Guarantee.EXACTLY_ONCE:
        kind = await kinds.read_name(conn, job.kind_id)
    wanted = exactly_once_kinds(kind or "", policy, changed.get("graph"))
    await refuse_incapable_kinds(conn, wanted)
