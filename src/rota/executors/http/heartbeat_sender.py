"""Sends the outgoing heartbeat. Its URL is a setting of the operator, so no guard applies."""

from datetime import timedelta
from typing import Final

import aiohttp

from rota.core.heartbeat import HeartbeatFailed

SEND_TIMEOUT: Final = timedelta(seconds=10)


async def send_heartbeat(url: str, body: str) -> None:
    """Post to the URL; raise `HeartbeatFailed` if it does not accept the request."""
    timeout = aiohttp.ClientTimeout(total=SEND_TIMEOUT.total_seconds())
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(url, data=body.encode(), allow_redirects=False) as response,
        ):
            if response.status >= 300:
                raise HeartbeatFailed(f"the monitor answered {response.status}")
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        raise HeartbeatFailed(f"{type(error).__name__}") from error
