"""Marks jobs as finished whose last tick was decided. Room: flow/record.

A fire only notes them: writing the row of a job costs as much as the rest of its fire. Whoever
looks at a job sees it finished at once, because it has no cursor (`rota.shown_state`); the mark is
for those who look for jobs by their state. So there is time: a bounded batch, then a rest.
"""

from dataclasses import dataclass
from typing import Final

from rota.store import ended_jobs
from rota.store.driver import Source
from rota.store.transaction import transaction

MOST: Final = 500
# At most a few thousand a second: it must not compete with the fires that fill the list.
BETWEEN: Final = 0.2
EVERY: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkingEnded:
    source: Source

    async def tick(self) -> float:
        async with self.source.acquire() as conn, transaction(conn):
            marked = await ended_jobs.mark_ended(conn, most=MOST)
        return BETWEEN if marked >= MOST else EVERY
