"""Somebody who submits all the time, through whichever API answers, and repeats until it does."""

import asyncio
from dataclasses import dataclass, field

import aiohttp

from tests.upgrade.fleet import CLOCK, Fleet

PAUSE = 0.03
# Each fifth is for a moment later: in the previous release a job, in this one a run that waits.
DELAYED = {"schedule": {"after": "PT1S"}}


@dataclass(kw_only=True)
class Submitter:
    """`acknowledged` are the ids of the runs that an API has promised; `delayed` are the ids by
    which it knows what it has promised for later.
    """

    fleet: Fleet
    acknowledged: list[str] = field(default_factory=list)
    delayed: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    is_over: bool = False

    async def live(self) -> None:
        number = 0
        while not self.is_over:
            number += 1
            body: dict[str, object] = {"name": f"load {number}", "payload": {"n": number}}
            body |= {"kind": "upgrade.quick"}
            if number % 6 == 0:
                body |= {"guarantee": "at_most_once", "kind": "upgrade.slow"}
            elif number % 5 == 0:
                body |= DELAYED
            await self._submit(body, key=f"load-{number}")
            await CLOCK.sleep(PAUSE)

    async def _submit(self, body: dict[str, object], *, key: str) -> None:
        """Until it is acknowledged; the key makes sure that it happens once."""
        while True:
            try:
                status, told = await self.fleet.ask("POST", "/v1/jobs", body, Idempotency_Key=key)
            except (aiohttp.ClientError, TimeoutError, OSError):
                # The API is being replaced.
                await CLOCK.sleep(PAUSE)
                continue
            if status == 201:
                if "schedule" in body:
                    self.delayed.append(told["job_id"])
                else:
                    self.acknowledged.append(told["run_id"])
                return
            if status < 500:
                self.refused.append(f"{status}: {told}")
                return
            await CLOCK.sleep(PAUSE)

    async def more(self, number: int) -> None:
        """Wait until so many more were acknowledged."""
        wanted = len(self.acknowledged) + number
        async with asyncio.timeout(120):
            while len(self.acknowledged) < wanted:
                await CLOCK.sleep(0.02)
