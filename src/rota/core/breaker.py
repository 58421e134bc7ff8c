"""Implements the circuit breaker of a target (E8, F38).

A target is what an attempt depends on: a host, a database, or a name that the job sets. While the
target answers, its breaker is closed and all attempts pass. `after` failures in a row open the
breaker: from then on one attempt per pause passes as a probe, and all others are turned away. A
successful probe closes the breaker; a failed probe makes the pause longer.

    closed ── `after` failures in a row ──▶ open ── failed probe ──▶ open, for longer
       ◀────────────────────────────────────── successful probe

There is no half-open state: letting a probe through moves the next probe by one pause. So a probe
that never ends, because its worker replaced a blocked attempt loop or its handler takes an hour,
delays other attempts by one pause at most.

Time is a number of seconds of any monotonic clock, and randomness is an argument.
engine/execution/pipeline.py keeps the breakers and asks them.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto
from typing import TYPE_CHECKING, Final

from rota.core.outcome import Failed, Outcome, Succeeded

if TYPE_CHECKING:
    from random import Random

# 2**30 times any pause exceeds every longest pause; the bound keeps the number small.
DOUBLINGS_MAX: Final = 30
# Random share of a pause, so that workers do not probe the same target at the same moment.
PAUSE_JITTER_SHARE: Final = 0.25


class TargetVerdict(Enum):
    """What the outcome of an attempt says about the target."""

    UP = auto()
    DOWN = auto()
    NOTHING = auto()


class BreakerChange(Enum):
    """How the outcome of an attempt changed the breaker."""

    OPENED = auto()
    STAYED_OPEN = auto()
    CLOSED = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerRule:
    """When to open, and for how long: `pause` at first, doubled after each failed probe, up to
    `longest`. `after` 0 disables the breaker.
    """

    after: int = 5
    pause: timedelta = timedelta(seconds=10)
    longest: timedelta = timedelta(minutes=5)


class Breaker:
    """The breaker of one target. `failures` counts failures in a row. `era` grows with every
    change; an outcome counts only in the era in which its attempt passed, because an attempt that
    began before the breaker opened says nothing about the target now.
    """

    __slots__ = (
        "_failed_probes",
        "_has_prober",
        "_probe_at",
        "_rule",
        "era",
        "failures",
        "pause",
    )

    def __init__(self, rule: BreakerRule) -> None:
        self._rule = rule
        self._probe_at: float | None = None
        # A caller retries at the moment of the next probe.
        self._has_prober = False
        # How often the breaker opened since it was last closed.
        self._failed_probes = 0
        self.era = 0
        self.failures = 0
        self.pause = 0.0

    @property
    def is_open(self) -> bool:
        return self._probe_at is not None

    @property
    def is_new(self) -> bool:
        """Whether it is in the state of a new breaker."""
        return self.era == 0 and self.failures == 0

    def try_pass(self, now: float) -> bool:
        """Return whether an attempt may start; while the breaker is open, it is the probe."""
        if self._probe_at is None:
            return True
        if now < self._probe_at:
            return False
        self._probe_next_at(now + self.pause)
        return True

    def compute_return_delay(self, now: float, *, time_left: float | None, rng: "Random") -> float:
        """Return in how many seconds an attempt that was turned away should ask again.

        `left` is the time until its deadline. The first attempt comes back for the probe, the
        others at random times in the pause after it, so that they do not all hit the target at
        once when it recovers.
        """
        probe_at = now if self._probe_at is None else self._probe_at
        until_probe = max(0.0, probe_at - now)
        if not self._has_prober:
            self._has_prober = True
            return until_probe
        spread = self.pause
        if time_left is not None and time_left > until_probe:
            # Spreading must not make the run miss its deadline.
            spread = min(spread, (time_left - until_probe) / 2)
        return until_probe + spread * rng.random()

    def record_verdict(
        self,
        verdict: TargetVerdict,
        *,
        era: int,
        now: float,
        rng: "Random",
        requested_pause: timedelta | None = None,
    ) -> BreakerChange | None:
        """Record the verdict of an attempt that passed in `era`.

        `wish` is the pause that the target itself asked for. Returns how the breaker changed.
        """
        if era != self.era:
            return None
        match verdict:
            case TargetVerdict.UP:
                return self._record_success()
            case TargetVerdict.DOWN:
                return self._record_failure(now, rng, requested_pause)
            case TargetVerdict.NOTHING:
                if self._probe_at is not None:
                    # The probe was cancelled or handed back: the next attempt may probe now.
                    self._probe_next_at(now)
                return None

    def _record_success(self) -> BreakerChange | None:
        self.failures = 0
        if self._probe_at is None:
            return None
        self._probe_at, self._failed_probes = None, 0
        self.era += 1
        return BreakerChange.CLOSED

    def _record_failure(
        self, now: float, rng: "Random", requested_pause: timedelta | None
    ) -> BreakerChange | None:
        self.failures += 1
        was_open = self._probe_at is not None
        if not was_open and self.failures < self._rule.after:
            return None
        longest = self._rule.longest.total_seconds()
        doublings = min(self._failed_probes, DOUBLINGS_MAX)
        doubled = self._rule.pause.total_seconds() * 2**doublings
        self.pause = min(doubled, longest) * (1 - PAUSE_JITTER_SHARE * rng.random())
        if requested_pause is not None:
            self.pause = max(self.pause, min(requested_pause.total_seconds(), longest))
        self._failed_probes += 1
        self.era += 1
        self._probe_next_at(now + self.pause)
        return BreakerChange.STAYED_OPEN if was_open else BreakerChange.OPENED

    def _probe_next_at(self, time: float) -> None:
        self._probe_at, self._has_prober = time, False


def judge_outcome(outcome: Outcome, *, is_named: bool, only_calls: bool = False) -> TargetVerdict:
    """Return what an outcome says about the target.

    If the executor reports whether it reached the target, that decides. If the job set the target
    itself, every failure that is retried counts as a failure of the target. If attempts of the kind
    only call the target (core/executor.py, Targeting), a timeout means that it did not answer.
    """
    match outcome:
        case Succeeded():
            return TargetVerdict.UP
        case Failed(reached=True):
            return TargetVerdict.UP
        case Failed(reached=False):
            return TargetVerdict.DOWN
        case Failed(timed_out=True) if only_calls:
            return TargetVerdict.DOWN
        case Failed(final=False) if is_named:
            return TargetVerdict.DOWN
        case _:
            return TargetVerdict.NOTHING
