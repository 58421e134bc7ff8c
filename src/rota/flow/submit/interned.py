"""The ids of what drafts name: kinds, queues, policies, schedules. Room: flow/submit.

An id that was committed never changes, so whoever hands in jobs all day need not ask for it again.
What a transaction asked for is kept only once that is committed: before, it may come to nothing.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rota.core.quotas import Quotas
from rota.flow.submit.allowing import quotas_of
from rota.flow.submit.drafting import Draft
from rota.flow.submit.graph_jobs import graph_ids, names_of_graph
from rota.flow.submit.new_names import KINDS, NameMaker, NameSort, intern_names, intern_queues
from rota.store import names
from rota.store.driver import Connection

MOST: Final = 10_000

Intern = Callable[[Connection, Iterable[str]], Awaitable[dict[str, int]]]
Known = dict[tuple[str, str], int]


@dataclass(slots=True)
class Interned:
    """What one transaction knows: what was known before it, and what it asked for itself."""

    known: Known = field(default_factory=dict)
    _fresh: Known = field(default_factory=dict)

    async def ids(
        self, conn: Connection, sort: str, texts: Iterable[str], *, intern: Intern
    ) -> dict[str, int]:
        """The ids of these texts; `intern` is asked for those that are not known."""
        wanted = set(texts)
        found = {text: self.known[sort, text] for text in wanted if (sort, text) in self.known}
        missing = wanted - found.keys()
        if missing:
            asked = await intern(conn, missing)
            self._fresh.update({(sort, text): id_ for text, id_ in asked.items()})
            found |= asked
        return found

    def committed(self) -> None:
        """The transaction is over: from now on everybody knows."""
        if len(self.known) + len(self._fresh) > MOST:
            self.known.clear()
        self.known.update(self._fresh)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ids:
    """What the names and bodies of a batch were interned to, and what its tenants may have."""

    tenants: dict[str, int]
    quotas: dict[str, Quotas]
    kinds: dict[str, int]
    queues: dict[str, int]
    policies: dict[str, int]
    schedules: dict[str, int]
    graphs: dict[tuple[int, str], int]

    def graph(self, each: Draft) -> int | None:
        if each.graph_text is None:
            return None
        return self.graphs[self.tenants[each.spec.tenant], each.graph_text]


async def intern(conn: Connection, drafts: Sequence[Draft], known: Interned) -> Ids:
    """The ids of what these drafts name. The tables always in this order, and each in the order of
    its names: no deadlock (F39).
    """
    # Submissions of a bulk share their specs.
    drafts = list({id(each.spec): each for each in drafts}.values())
    specs = [each.spec for each in drafts]
    found = await names.tenants(conn, [spec.tenant for spec in specs])
    schedules = [each.interned_schedule(found[each.spec.tenant].id) for each in drafts]
    quotas = {name: quotas_of(row.quotas) for name, row in found.items()}
    makers = [NameMaker(found[spec.tenant].id, quotas[spec.tenant]) for spec in specs]
    kinds, queues = used_names(drafts, makers)
    return Ids(
        tenants={name: row.id for name, row in found.items()},
        quotas=quotas,
        kinds=await known.ids(conn, "kind", kinds, intern=_interning(KINDS, kinds)),
        queues=await _queue_ids(conn, queues, known),
        policies=await known.ids(
            conn, "policy", [each.policy_text for each in drafts], intern=names.policy_ids
        ),
        schedules=await names.schedule_ids(conn, [body for body in schedules if body]),
        graphs=await graph_ids(
            conn,
            [(found[each.spec.tenant].id, each.graph_text) for each in drafts if each.graph_text],
        ),
    )


def _interning(sort: NameSort, makers: Mapping[str, NameMaker]) -> Intern:
    async def intern_new(conn: Connection, wanted: Iterable[str]) -> dict[str, int]:
        return await intern_names(conn, sort, {name: makers[name] for name in wanted})

    return intern_new


async def _queue_ids(
    conn: Connection, queues: Mapping[tuple[int, str], NameMaker], known: Interned
) -> dict[str, int]:
    """The ids of the queues by name; each becomes one of the tenant's own."""
    texts = {f"{tenant_id} {name}": (tenant_id, name) for tenant_id, name in queues}

    async def intern_new(conn: Connection, wanted: Iterable[str]) -> dict[str, int]:
        pairs = {text: texts[text] for text in wanted}
        ids = await intern_queues(conn, {pair: queues[pair] for pair in pairs.values()})
        return {text: ids[pair] for text, pair in pairs.items()}

    ids = await known.ids(conn, "queue", texts, intern=intern_new)
    return {texts[text][1]: id_ for text, id_ in ids.items()}


def used_names(
    drafts: Sequence[Draft], makers: Sequence[NameMaker]
) -> tuple[dict[str, NameMaker], dict[tuple[int, str], NameMaker]]:
    """The kinds and queues of jobs and of the steps of their graphs, and whose they are."""
    kinds: dict[str, NameMaker] = {}
    queues: dict[tuple[int, str], NameMaker] = {}
    for each, maker in zip(drafts, makers, strict=True):
        kinds.setdefault(each.spec.kind, maker)
        queues.setdefault((maker.tenant_id, each.spec.queue), maker)
        if each.graph_text is not None:
            of_steps = names_of_graph(each.graph_text)
            kinds |= {name: maker for name in of_steps.kinds if name not in kinds}
            queues |= {(maker.tenant_id, name): maker for name in of_steps.queues}
    return kinds, queues
