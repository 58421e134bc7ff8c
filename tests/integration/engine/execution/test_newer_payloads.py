"""A worker meets a payload with a field or a value that it does not know (O4)."""

import json
from typing import Any

import pytest
from tests.support.shop import Shop

from rota.core.states import RunState
from rota.executors.shell import ShellExecutor


@pytest.mark.parametrize(
    ("unknown", "said"),
    [
        ({"colour": "blue"}, "payload.colour: unknown field; known fields: argv, env"),
        ({"ok_codes": ["usual"]}, "ok_codes[0]: 'usual' is invalid: expected a whole number"),
    ],
    ids=str,
)
async def test_a_payload_that_is_not_known_fails_its_run_at_once_and_no_other(
    shop: Shop, unknown: dict[str, Any], said: str
) -> None:
    """To ignore what it does not know could delete what a misspelt `dry_run` meant to keep."""
    shop.others = (lambda: ShellExecutor(allow=("/bin/true",)),)
    async with shop.worker():
        failed = await shop.ends(await shop.submit("shell", {"argv": ["/bin/true"], **unknown}))
        other = await shop.ends(await shop.submit("shell", {"argv": ["/bin/true"]}))

    assert (failed.state, failed.attempt) == (RunState.DEAD, 1)
    assert said in json.loads(failed.reason or "")["message"]
    assert other.state == RunState.SUCCEEDED
