"""Injects secrets into the payload of an attempt, and masks them in everything that it writes.

Used only for payloads that reference a secret. The values are read for this attempt, so the next
attempt sees a new version. They live only in the spec that the executor gets. The mask is the
single place between the attempt and what is stored of it: output, progress, result and failure.
"""

from dataclasses import replace
from threading import Lock
from typing import Any

import msgspec

from rota.core.errors import InvalidInput
from rota.core.executor import Stream
from rota.core.outcome import Failed, Failure, Outcome
from rota.core.secret_masking import MASK_TEXT, MASKED_BYTES_MIN, SecretMask
from rota.core.secret_references import find_secret_names, reject_public_secrets
from rota.core.tracebacks import mask_errors
from rota.engine.execution.attempt import Attempt


async def inject_secrets(attempt: Attempt) -> Any:
    """Read the secrets that the payload references, mask them from now on, and let the executor
    validate the payload with them. Raises `InvalidInput` if a secret does not exist; another
    attempt would not find it either.
    """
    payload = attempt.decode_payload()
    reject_public_secrets(attempt.kind, payload)
    referenced = find_secret_names(payload)
    found = await attempt.secrets(sorted(referenced))
    for name in sorted(referenced - found.keys()):
        raise InvalidInput("payload", f"{{{{secret:{name}}}}}", f"secret {name!r} does not exist")
    attempt.secret_mask = AttemptMask(SecretMask(found.values()))
    return attempt.read_spec(found)


class AttemptMask:
    """Masks the secrets of one attempt. Output arrives in pieces, from any thread, and a secret may
    span two of them.
    """

    __slots__ = ("_held", "_lock", "_mask")

    def __init__(self, mask: SecretMask) -> None:
        self._mask = mask
        self._held: dict[Stream, bytes] = {}
        self._lock = Lock()

    def mask_text(self, text: str) -> str:
        return self._mask.mask_text(text)

    def mask_output(self, stream: Stream, chunk: bytes) -> bytes:
        """Return the part of the output that can be released by now, masked."""
        with self._lock:
            clean, held = self._mask.mask_chunk(self._held.pop(stream, b"") + chunk)
            if held:
                self._held[stream] = held
            return clean

    def flush_output(self) -> list[tuple[Stream, bytes]]:
        """Return the output that was held back because a secret might begin in it. Longer
        remainders are masked: the writer was probably stopped in the middle of a secret.
        """
        with self._lock:
            remainders, self._held = self._held, {}
        return [
            (stream, held if len(held) < MASKED_BYTES_MIN else MASK_TEXT.encode())
            for stream, held in remainders.items()
        ]

    def mask_error(self, error: InvalidInput) -> None:
        """Mask the value of an error; its message would show the start of a long value."""
        error.value = self._mask.mask_value(error.value)

    def mask_ending(self, outcome: Outcome, result: str | None) -> tuple[Outcome, str | None]:
        """Return the ending with secrets masked; `result` is JSON."""
        if isinstance(outcome, Failed):
            failure = outcome.failure
            masked = Failure(
                type=self.mask_text(failure.type),
                message=self.mask_text(failure.message),
                traceback=mask_errors(failure.traceback, self.mask_text),
                frame=None if failure.frame is None else self.mask_text(failure.frame),
            )
            outcome = replace(outcome, failure=masked)
        return outcome, self.mask_json(result)

    def mask_json(self, text: str | None) -> str | None:
        if text is None:
            return None
        try:
            masked = self._mask.mask_value(msgspec.json.decode(text))
        except RecursionError:  # nested too deeply to mask
            masked = MASK_TEXT
        return msgspec.json.encode(masked).decode()

    def reject_secrets(self, value: object, field: str) -> None:
        """Raise if a value that must be stored unchanged contains a secret."""
        if self._mask.contains_secret(msgspec.json.encode(value).decode()):
            raise InvalidInput(field, MASK_TEXT, "must not contain secrets of this attempt")
