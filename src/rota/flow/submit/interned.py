"""Names and policies whose ids are known already. Room: flow/submit.

An id that was committed never changes, so whoever hands in jobs all day need not ask for it again.
What a transaction asked for is kept only once that is committed: before, it may come to nothing.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

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
