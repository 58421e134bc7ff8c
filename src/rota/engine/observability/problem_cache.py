"""Keeps the problems of each tenant for a few seconds."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from rota.core.problem_codes import DetectedProblem

CACHE_TTL: Final = timedelta(seconds=5)
CACHED_TENANTS_MAX: Final = 1000
# The tenant, and whether problems of other tenants are included.
ProblemKey = tuple[int, bool]


@dataclass(slots=True)
class ProblemCache:
    """Keeps the problems of each tenant for `CACHE_TTL`, and finds them once at a time."""

    _found: dict[ProblemKey, tuple[datetime, list[DetectedProblem]]] = field(default_factory=dict)
    _locks: dict[ProblemKey, asyncio.Lock] = field(default_factory=dict)

    async def read(
        self,
        key: ProblemKey,
        find: Callable[[], Awaitable[list[DetectedProblem]]],
        *,
        now: Callable[[], datetime],
        is_fresh: bool = False,
    ) -> list[DetectedProblem]:
        """Return the problems of a scope. `is_fresh` finds them anew."""
        requested_at = now()
        async with self._locks.setdefault(key, asyncio.Lock()):
            known = self._found.get(key)
            oldest = requested_at if is_fresh else requested_at - CACHE_TTL
            if known is not None and oldest <= known[0] <= now():
                return known[1]
            self._make_room()
            started_at = now()
            problems_found = await find()
            self._found[key] = (started_at, problems_found)
            return problems_found

    def _make_room(self) -> None:
        if len(self._found) < CACHED_TENANTS_MAX:
            return
        self._found.clear()
        self._locks = {key: lock for key, lock in self._locks.items() if lock.locked()}
