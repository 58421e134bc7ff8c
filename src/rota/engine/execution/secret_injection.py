"""Injects secrets into the payload of an attempt that is about to start.

Used only for payloads that reference a secret. The values are read for this attempt, so the next
attempt sees a new version. They live only in the spec that the executor gets; from here on the mask
hides them in everything that the attempt writes.
"""

from typing import Any

from rota.core.errors import InvalidInput
from rota.core.secret_masking import SecretMask
from rota.core.secret_references import find_secret_names, reject_public_secrets
from rota.engine.execution.attempt import Attempt
from rota.engine.execution.secret_masking import AttemptMask


async def read_with_secrets(attempt: Attempt) -> Any:
    """Let the executor validate the payload with its secrets. Raises `InvalidInput` if a secret
    does not exist; another attempt would not find it either.
    """
    payload = attempt.decode_payload()
    reject_public_secrets(attempt.kind, payload)
    referenced = find_secret_names(payload)
    found = await attempt.secrets(sorted(referenced))
    for name in sorted(referenced - found.keys()):
        raise InvalidInput("payload", f"{{{{secret:{name}}}}}", f"secret {name!r} does not exist")
    attempt.secret_mask = AttemptMask(SecretMask(found.values()))
    return attempt.read_spec(found)
