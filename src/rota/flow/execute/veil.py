"""What an attempt says, without the secrets that it was given. Room: flow/execute.

The one place between an attempt and everything that is kept of it: output, progress, its result and
its failure. Output comes in pieces, from any thread, and a value may lie across two of them.
"""

from dataclasses import replace
from threading import Lock

import msgspec

from rota.core.errors import InvalidInput
from rota.core.executor import Stream
from rota.core.masking import HIDDEN, SHORTEST, Mask
from rota.core.outcome import Failed, Failure, Outcome
from rota.core.tracebacks import mask_errors


class Veil:
    __slots__ = ("_kept", "_lock", "_mask")

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self._kept: dict[Stream, bytes] = {}
        self._lock = Lock()

    def text(self, text: str) -> str:
        return self._mask.text(text)

    def over(self, stream: Stream, chunk: bytes) -> bytes:
        """What may be said of this piece of output by now."""
        with self._lock:
            said, kept = self._mask.clean(self._kept.pop(stream, b"") + chunk)
            if kept:
                self._kept[stream] = kept
            return said

    def rest(self) -> list[tuple[Stream, bytes]]:
        """What was kept because a value might have begun in it. More than a few letters of one are
        no chance: whoever wrote them was stopped in the middle.
        """
        with self._lock:
            left, self._kept = self._kept, {}
        return [
            (stream, kept if len(kept) < SHORTEST else HIDDEN.encode())
            for stream, kept in left.items()
        ]

    def over_error(self, error: InvalidInput) -> None:
        """Hide values in its fields: its sentence would show the beginning of a long one."""
        error.value = self._mask.value(error.value)

    def over_ending(self, outcome: Outcome, result: str | None) -> tuple[Outcome, str | None]:
        """The ending as it may be stored; `result` is JSON."""
        if isinstance(outcome, Failed):
            failure = outcome.failure
            told = Failure(
                type=self.text(failure.type),
                message=self.text(failure.message),
                traceback=mask_errors(failure.traceback, self.text),
                frame=None if failure.frame is None else self.text(failure.frame),
            )
            outcome = replace(outcome, failure=told)
        return outcome, self.over_json(result)

    def over_json(self, text: str | None) -> str | None:
        if text is None:
            return None
        try:
            told = self._mask.value(msgspec.json.decode(text))
        except RecursionError:  # JSON may be deeper than we can look
            told = HIDDEN
        return msgspec.json.encode(told).decode()

    def refuse(self, value: object, what: str) -> None:
        """Refuse to store what the attempt wants back unchanged, if it holds a secret."""
        if self._mask.holds(msgspec.json.encode(value).decode()):
            raise InvalidInput(what, HIDDEN, "a value without the secrets of this attempt")
