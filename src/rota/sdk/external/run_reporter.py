"""Reports the run of a command to the server.

The command is typically a line of a crontab and must run even if the server is unreachable or
refuses. Nothing here raises; a failure is reported once on standard error.
"""

from collections.abc import Callable
from threading import Event
from typing import TYPE_CHECKING, Any, Final

from rota.core.errors import RotaError
from rota.sdk.external.output_buffer import PIECES_PER_REPORT_MAX, UnsentOutput

if TYPE_CHECKING:
    from rota.sdk.client import Client

# Seconds between tries to report the end of a run: the server may be restarting.
END_RETRY_PAUSES_S: Final = (0.2, 0.5, 1.0, 2.0, 4.0)
SERVER_ERROR_STATUS: Final = 500


class RunReporter:
    """Reports one run. Does nothing if the server has not created the run."""

    def __init__(self, client: "Client | None", complain: Callable[[str], None]) -> None:
        self.output = UnsentOutput()
        self.run_id: str | None = None
        self._client = client
        self._complain = complain
        self._is_silent = False
        # Never set: the thread waits for it to sleep.
        self._never = Event()

    def report_start(self, **draft: Any) -> None:
        if self._client is None:
            return
        try:
            run = self._client.begin_external_run(**draft)
        except RotaError as error:
            self._complain(f"this run is not recorded: {error}")
            return
        self.run_id = run.run_id

    def report_progress(self) -> bool:
        """Report that the run continues, with its output; True if it was cancelled."""
        if self._client is None or self.run_id is None:
            return False
        try:
            answer = self._client.tell_external_run(self.run_id, output=self.output.take_batch())
        except RotaError as error:
            if not self._is_silent:
                self._complain(f"cannot report the progress of run {self.run_id}: {error}")
            self._is_silent = True
            return False
        self._is_silent = False
        self.output.confirm_batch()
        return answer.cancel

    def report_end(self, exit_code: int, reason: str) -> None:
        """Report the rest of the output and the exit code."""
        for pause in (*END_RETRY_PAUSES_S, None):
            try:
                self._end(exit_code, reason)
            except RotaError as error:
                if pause is None or is_final(error):
                    self._complain(f"the end of run {self.run_id} is not recorded: {error}")
                    return
                self._never.wait(pause)
            else:
                return

    def _end(self, exit_code: int, why: str) -> None:
        if self._client is None or self.run_id is None:
            return
        output = self.output.take_batch()
        # After a full batch there may be more; the last batch is sent with the end of the run.
        while len(output) == PIECES_PER_REPORT_MAX:
            self._client.tell_external_run(self.run_id, output=output)
            self.output.confirm_batch()
            output = self.output.take_batch()
        self._client.end_external_run(
            self.run_id,
            output=output,
            exit_code=exit_code,
            why=why[:1000],
        )
        self.output.confirm_batch()


def is_final(error: RotaError) -> bool:
    """Whether a retry would fail in the same way."""
    from rota.sdk.client import ApiError  # noqa: PLC0415 — imports the HTTP library

    return isinstance(error, ApiError) and error.status < SERVER_ERROR_STATUS
