"""The clock of a machine that shows another time than the database's."""

from datetime import datetime, timedelta

from rota.runtime.clock import SystemClock


class WrongClock(SystemClock):
    """A wall clock that is ahead by `offset`; it measures waiting as well as any other."""

    def __init__(self, offset: timedelta) -> None:
        self._offset = offset

    def now(self) -> datetime:
        return super().now() + self._offset
