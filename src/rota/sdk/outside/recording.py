"""Tells the server of a command, as far as it listens. Room: sdk/outside.

The command is somebody's cron line: it runs whatever the server does. Nothing here raises for a
server that is away or refuses; it is said once on standard error.
"""

from collections.abc import Callable
from threading import Event
from typing import TYPE_CHECKING, Any, Final

from rota.core.errors import RotaError
from rota.sdk.outside.output import AT_ONCE, Output

if TYPE_CHECKING:
    from rota.sdk.client import Client

# How long to wait before the end is told again, if nobody heard it: a server may be starting anew.
PAUSES: Final = (0.2, 0.5, 1.0, 2.0, 4.0)
ITS_FAULT: Final = 500


class Recording:
    """One run. Without one on the server, whatever is told is told to nobody."""

    def __init__(self, client: "Client | None", complain: Callable[[str], None]) -> None:
        self.output = Output()
        self.run_id: str | None = None
        self._client = client
        self._complain = complain
        self._is_silent = False
        # Nobody sets it: waiting for it is how a thread rests.
        self._never = Event()

    def begin(self, **draft: Any) -> None:
        if self._client is None:
            return
        try:
            run = self._client.begin_external_run(**draft)
        except RotaError as error:
            self._complain(f"this run is not recorded: {error}")
            return
        self.run_id = run.run_id

    def tell(self) -> bool:
        """Say that it goes on; True if it is to be cancelled."""
        if self._client is None or self.run_id is None:
            return False
        try:
            answer = self._client.tell_external_run(self.run_id, output=self.output.take())
        except RotaError as error:
            if not self._is_silent:
                self._complain(f"the server does not hear of run {self.run_id}: {error}")
            self._is_silent = True
            return False
        self._is_silent = False
        self.output.told()
        return answer.cancel

    def end(self, exit_code: int, why: str) -> None:
        """Tell the rest and how it ended."""
        for pause in (*PAUSES, None):
            try:
                self._end(exit_code, why)
            except RotaError as error:
                if pause is None or is_final(error):
                    self._complain(f"how run {self.run_id} ended is not recorded: {error}")
                    return
                self._never.wait(pause)
            else:
                return

    def _end(self, exit_code: int, why: str) -> None:
        if self._client is None or self.run_id is None:
            return
        output = self.output.take()
        # A full hand may have more behind it; what is not full goes with the end.
        while len(output) == AT_ONCE:
            self._client.tell_external_run(self.run_id, output=output)
            self.output.told()
            output = self.output.take()
        self._client.end_external_run(
            self.run_id,
            output=output,
            exit_code=exit_code,
            why=why[:1000],
        )
        self.output.told()


def is_final(error: RotaError) -> bool:
    """Whether asking again would get the same answer."""
    from rota.sdk.client import ApiError  # noqa: PLC0415 — brings the HTTP library with it

    return isinstance(error, ApiError) and error.status < ITS_FAULT
