"""Puts secrets into the payload of an attempt that is about to start. Room: flow/execute.

Asked only for a payload that names one. The values are read for this attempt, so the next one sees
a new version; they live in what the executor was given, and from here on the veil hides them in all
that the attempt says.
"""

from typing import Any

from rota.core.binding import names_in, refuse_public
from rota.core.errors import InvalidInput
from rota.core.masking import Mask
from rota.flow.execute.attempt import Attempt
from rota.flow.execute.veil import Veil


async def read(attempt: Attempt) -> Any:
    """Let the executor check the payload with its secrets. `InvalidInput` if there is no such
    secret, which another attempt would not find either.
    """
    payload = attempt.decoded()
    refuse_public(attempt.kind, payload)
    wanted = names_in(payload)
    found = await attempt.secrets(sorted(wanted))
    for name in sorted(wanted - found.keys()):
        raise InvalidInput("payload", f"{{{{secret:{name}}}}}", f"there is no secret {name!r}")
    attempt.veil = Veil(Mask(found.values()))
    return attempt.read(found)
