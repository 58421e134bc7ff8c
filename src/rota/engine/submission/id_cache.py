"""Resolves the names and bodies of drafts to ids: kinds, queues, policies, schedules.

A committed id never changes, so a process that submits jobs all day caches it. The ids that a
transaction interned enter the cache only after its commit, because a rollback would undo them.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rota.core.quotas import Quotas
from rota.engine.submission.definition_references import (
    KIND_NAMES,
    NameKind,
    NameOwner,
    collect_graph_names,
    intern_graphs,
    intern_names,
    intern_queues,
)
from rota.engine.submission.drafts import CheckedJob
from rota.engine.submission.quotas import read_quotas
from rota.store import interning
from rota.store.driver import Connection

CACHED_IDS_MAX: Final = 10_000

Intern = Callable[[Connection, Iterable[str]], Awaitable[dict[str, int]]]
CachedIds = dict[tuple[str, str], int]


@dataclass(slots=True)
class IdCache:
    """The id cache of one transaction: committed ids, and those that it interned itself."""

    committed_ids: CachedIds = field(default_factory=dict)
    _fresh: CachedIds = field(default_factory=dict)

    async def resolve_ids(
        self, conn: Connection, sort: str, texts: Iterable[str], *, intern: Intern
    ) -> dict[str, int]:
        """Return the ids of these texts. `intern` is called for those that are not cached."""
        wanted = set(texts)
        found = {
            text: self.committed_ids[sort, text]
            for text in wanted
            if (sort, text) in self.committed_ids
        }
        missing = wanted - found.keys()
        if missing:
            interned = await intern(conn, missing)
            self._fresh.update({(sort, text): id_ for text, id_ in interned.items()})
            found |= interned
        return found

    def keep_committed(self) -> None:
        """Add the ids of this transaction to the cache. Call it after the commit."""
        if len(self.committed_ids) + len(self._fresh) > CACHED_IDS_MAX:
            self.committed_ids.clear()
        self.committed_ids.update(self._fresh)


@dataclass(frozen=True, slots=True, kw_only=True)
class InternedIds:
    """The ids of the names and bodies of a batch, and the quotas of its tenants."""

    tenants: dict[str, int]
    quotas: dict[str, Quotas]
    kinds: dict[str, int]
    queues: dict[str, int]
    policies: dict[str, int]
    schedules: dict[str, int]
    graphs: dict[tuple[int, str], int]

    def graph_id_of(self, draft: CheckedJob) -> int | None:
        if draft.graph_text is None:
            return None
        return self.graphs[self.tenants[draft.spec.tenant], draft.graph_text]


async def intern_drafts(
    conn: Connection, drafts: Sequence[CheckedJob], cache: IdCache
) -> InternedIds:
    """Return the ids of everything that drafts name. Tables are locked in this order, and each
    table in the order of its names, to avoid deadlocks (F39).
    """
    # Submissions of a bulk share their specs.
    drafts = list({id(draft.spec): draft for draft in drafts}.values())
    specs = [draft.spec for draft in drafts]
    found = await interning.find_tenants(conn, [spec.tenant for spec in specs])
    schedules = [draft.interned_schedule(found[draft.spec.tenant].id) for draft in drafts]
    quotas = {name: read_quotas(row.quotas) for name, row in found.items()}
    makers = [NameOwner(found[spec.tenant].id, quotas[spec.tenant]) for spec in specs]
    kinds, queues = collect_names(drafts, makers)
    return InternedIds(
        tenants={name: row.id for name, row in found.items()},
        quotas=quotas,
        kinds=await cache.resolve_ids(conn, "kind", kinds, intern=_intern_with(KIND_NAMES, kinds)),
        queues=await _queue_ids(conn, queues, cache),
        policies=await cache.resolve_ids(
            conn,
            "policy",
            [draft.policy_text for draft in drafts],
            intern=interning.intern_policies,
        ),
        schedules=await interning.intern_schedules(conn, [body for body in schedules if body]),
        graphs=await intern_graphs(
            conn,
            [
                (found[draft.spec.tenant].id, draft.graph_text)
                for draft in drafts
                if draft.graph_text
            ],
        ),
    )


def _intern_with(sort: NameKind, makers: Mapping[str, NameOwner]) -> Intern:
    async def intern_new(conn: Connection, wanted: Iterable[str]) -> dict[str, int]:
        return await intern_names(conn, sort, {name: makers[name] for name in wanted})

    return intern_new


async def _queue_ids(
    conn: Connection, queues: Mapping[tuple[int, str], NameOwner], known: IdCache
) -> dict[str, int]:
    """Return the ids of queues by name. Each queue is registered as one of the tenant's."""
    texts = {f"{tenant_id} {name}": (tenant_id, name) for tenant_id, name in queues}

    async def intern_new(conn: Connection, wanted: Iterable[str]) -> dict[str, int]:
        pairs = {text: texts[text] for text in wanted}
        ids = await intern_queues(conn, {pair: queues[pair] for pair in pairs.values()})
        return {text: ids[pair] for text, pair in pairs.items()}

    ids = await known.resolve_ids(conn, "queue", texts, intern=intern_new)
    return {texts[text][1]: id_ for text, id_ in ids.items()}


def collect_names(
    drafts: Sequence[CheckedJob], makers: Sequence[NameOwner]
) -> tuple[dict[str, NameOwner], dict[tuple[int, str], NameOwner]]:
    """Return the kinds and queues of jobs and of their graph steps, with the tenant of each."""
    kinds: dict[str, NameOwner] = {}
    queues: dict[tuple[int, str], NameOwner] = {}
    for draft, maker in zip(drafts, makers, strict=True):
        kinds.setdefault(draft.spec.kind, maker)
        queues.setdefault((maker.tenant_id, draft.spec.queue), maker)
        if draft.graph_text is not None:
            of_steps = collect_graph_names(draft.graph_text)
            kinds |= {name: maker for name in of_steps.kinds if name not in kinds}
            queues |= {(maker.tenant_id, name): maker for name in of_steps.queues}
    return kinds, queues
