"""Holds what a process knows about its own health, for probes.

Other threads record; the listener's thread reads. No check waits or queries the database, so that
a probe is answered whatever the process does.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from rota.runtime.clock import SystemClock

LOOP_BEAT_INTERVAL_S: Final = 0.5
# A measured delay of the loop is remembered for one to two windows.
LAG_WINDOW_S: Final = 15.0
# The watchdog ends a process whose loop is blocked for 30 s; a supervisor may act earlier.
LIVENESS_SILENCE_MAX_S: Final = 20.0
READINESS_SILENCE_MAX_S: Final = 5.0
# How long ago the database may have answered last.
DATABASE_SILENCE_MAX_S: Final = 10.0


class CheckResult(NamedTuple):
    """The result of one check: what is wrong, or None; and the age of what it looked at."""

    problem: str | None = None
    age_s: float | None = None


class NamedResult(NamedTuple):
    name: str
    problem: str | None
    age_s: float | None


HealthCheck = Callable[[], CheckResult]


@dataclass(slots=True)
class LoopHeartbeat:
    """Measures how long the event loop has not turned. `tick` is a duty of that loop."""

    monotonic: Callable[[], float]
    on_beat: Callable[[], object] = lambda: None
    beat_at: float | None = None
    _window_at: float = float("-inf")
    _lag: float = 0.0
    _former_lag: float = 0.0

    async def tick(self) -> float:
        now = self.monotonic()
        lag = 0.0 if self.beat_at is None else now - self.beat_at - LOOP_BEAT_INTERVAL_S
        if now - self._window_at >= LAG_WINDOW_S:
            self._window_at, self._former_lag, self._lag = now, self._lag, 0.0
        self._lag = max(self._lag, lag)
        self.beat_at = now
        self.on_beat()
        return LOOP_BEAT_INTERVAL_S

    @property
    def silent_s(self) -> float:
        """Seconds since the loop last turned; 0 before its first turn, while the process starts."""
        return 0.0 if self.beat_at is None else self.monotonic() - self.beat_at

    def measure_lag(self) -> float:
        """Return the largest recent delay of the loop in seconds, including one that goes on."""
        return max(self._lag, self._former_lag, self.silent_s - LOOP_BEAT_INTERVAL_S, 0.0)

    def check(self, silence_max_s: float) -> CheckResult:
        silent_s = self.silent_s
        if silent_s < silence_max_s:
            return CheckResult(age_s=silent_s)
        return CheckResult(f"the event loop has been blocked for {silent_s:.0f} s", silent_s)


@dataclass(slots=True, kw_only=True)
class ProcessHealth:
    """The health of one process. `database_seen_at` returns when the database last answered, by the
    monotonic clock, or None; `watchdog_silence` returns how long the watchdog's thread has not
    looked. Parts of the process add their own checks of readiness.
    """

    monotonic: Callable[[], float] = field(default_factory=lambda: SystemClock().monotonic)
    is_stopping: Callable[[], bool] = lambda: False
    watchdog_silence: Callable[[], float] = lambda: 0.0
    database_seen_at: Callable[[], float | None] = lambda: None
    # The URL of the listener; None if it is off.
    observe_url: str | None = None
    # Busy and all slots of the worker in this process; None without a worker.
    count_slots: Callable[[], tuple[int, int]] | None = None
    heartbeat: LoopHeartbeat = field(init=False)
    _started_at: float | None = field(default=None, init=False)
    _waits_for: str = field(default="the process is starting", init=False)
    _checks: dict[str, HealthCheck] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.heartbeat = LoopHeartbeat(self.monotonic)

    def add_check(self, name: str, check: HealthCheck) -> None:
        """Add a check of readiness. Any thread may call it; it must only read."""
        self._checks[name] = check

    def mark_waiting(self, reason: str) -> None:
        """Record what the start of the process waits for."""
        self._waits_for = reason

    def mark_started(self) -> None:
        """Record that the start is complete: the schema is checked, the services are built."""
        self._started_at = self.monotonic()

    @property
    def is_database_up(self) -> bool:
        """Whether the database has answered recently."""
        return self._check_database().problem is None

    def check_liveness(self) -> list[NamedResult]:
        """Check the event loop and the watchdog, never the database."""
        silence = self.watchdog_silence()
        problem = None
        if silence >= LIVENESS_SILENCE_MAX_S:
            problem = f"the watchdog has not looked for {silence:.0f} s"
        return [
            name_result("event_loop", self.heartbeat.check(LIVENESS_SILENCE_MAX_S)),
            NamedResult("watchdog", problem, silence),
        ]

    def check_startup(self) -> list[NamedResult]:
        """Check that the start is complete, with the schema that this version needs."""
        return [name_result("startup", self._check_start())]

    def check_readiness(self) -> list[NamedResult]:
        """Check that the process can work now."""
        stopping = "the process is stopping" if self.is_stopping() else None
        # Copied in one step: another thread may add a check.
        checks = list(self._checks.items())
        return [
            *self.check_startup(),
            NamedResult("not_stopping", stopping, None),
            name_result("event_loop", self.heartbeat.check(READINESS_SILENCE_MAX_S)),
            name_result("database", self._check_database()),
            *(name_result(name, check()) for name, check in checks),
        ]

    def _check_start(self) -> CheckResult:
        if self._started_at is None:
            return CheckResult(self._waits_for)
        return CheckResult(age_s=self.monotonic() - self._started_at)

    def _check_database(self) -> CheckResult:
        seen_at = self.database_seen_at()
        if seen_at is None:
            return CheckResult("the database has not answered yet")
        age_s = self.monotonic() - seen_at
        if age_s <= DATABASE_SILENCE_MAX_S:
            return CheckResult(age_s=age_s)
        return CheckResult(f"the database has not answered for {age_s:.0f} s", age_s)


def name_result(name: str, result: CheckResult) -> NamedResult:
    return NamedResult(name, result.problem, result.age_s)
