"""Whether a target is worth asking: the circuit breaker (E8, F38). Room: core.

A target is what an attempt depends on: a host, a database, whatever a job names. While it answers,
its breaker is closed and in nobody's way. Some failures in a row open it: from then on one attempt
is let through per pause, to look, and all others are turned away. A look that succeeds closes it;
one that fails makes the pause longer.

    closed ── `after` failures in a row ──▶ open ── a look in vain ──▶ open, for longer
       ◀───────────────────────────────────── a look that was answered

There is no third state for the time of the look: to let one through is to move the next look by a
pause. So a look that never ends, because its worker replaced a blocked stage or its handler takes
an hour, holds nobody up for longer than that.

Time is a number of seconds by any clock that only grows, and chance is an argument. Where breakers
are kept and who asks them is flow/execute/breakers.py.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto
from typing import TYPE_CHECKING, Final

from rota.core.outcome import Failed, Outcome, Succeeded

if TYPE_CHECKING:
    from random import Random

# 2**30 of anything is past every longest pause; the bound keeps the number a small one.
MOST_DOUBLINGS: Final = 30
# Of a pause, so that workers that found the same target down do not look at the same moment.
JITTER: Final = 0.25


class Verdict(Enum):
    """What an ending says about the target."""

    UP = auto()
    DOWN = auto()
    NOTHING = auto()


class Change(Enum):
    """What an ending did to a breaker."""

    OPENED = auto()
    STAYED_OPEN = auto()
    CLOSED = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaking:
    """When to open, and for how long: `pause` at first, then twice as long each time, up to
    `longest`. After 0 failures means never.
    """

    after: int = 5
    pause: timedelta = timedelta(seconds=10)
    longest: timedelta = timedelta(minutes=5)


class Breaker:
    """One target. `failures` are those in a row; `era` grows with every change, and an ending
    counts only in the era in which its attempt was let through: what began before the target was
    found down says nothing about it now.
    """

    __slots__ = ("_has_looker", "_look_at", "_rule", "_vain", "era", "failures", "pause")

    def __init__(self, rule: Breaking) -> None:
        self._rule = rule
        self._look_at: float | None = None
        # Somebody was told to come back for the next look, at its very moment.
        self._has_looker = False
        # Times that it was opened without having been closed between.
        self._vain = 0
        self.era = 0
        self.failures = 0
        self.pause = 0.0

    @property
    def is_open(self) -> bool:
        return self._look_at is not None

    @property
    def is_blank(self) -> bool:
        """Nothing is known that a new one would not know."""
        return self.era == 0 and self.failures == 0

    def lets_through(self, now: float) -> bool:
        """Whether an attempt may start. If it is open, the one that may is the look."""
        if self._look_at is None:
            return True
        if now < self._look_at:
            return False
        self._look_again_at(now + self.pause)
        return True

    def come_back(self, now: float, *, left: float | None, chance: "Random") -> float:
        """In how many seconds somebody who was turned away shall ask again, who has only so many
        `left`. The first comes for the look, the others in the pause after it: together they
        neither look nor, once it is answered, fall upon the target.
        """
        look_at = now if self._look_at is None else self._look_at
        until_look = max(0.0, look_at - now)
        if not self._has_looker:
            self._has_looker = True
            return until_look
        spread = self.pause
        if left is not None and left > until_look:
            # A deadline is not missed for the sake of the spread.
            spread = min(spread, (left - until_look) / 2)
        return until_look + spread * chance.random()

    def tell(
        self,
        verdict: Verdict,
        *,
        era: int,
        now: float,
        chance: "Random",
        wish: timedelta | None = None,
    ) -> Change | None:
        """An attempt that was let through in `era` has ended. `wish` is how long the target itself
        asked to be left alone.
        """
        if era != self.era:
            return None
        match verdict:
            case Verdict.UP:
                return self._answered()
            case Verdict.DOWN:
                return self._failed(now, chance, wish)
            case Verdict.NOTHING:
                if self._look_at is not None:
                    # The look was cancelled or handed back: the next one may look at once.
                    self._look_again_at(now)
                return None

    def _answered(self) -> Change | None:
        self.failures = 0
        if self._look_at is None:
            return None
        self._look_at, self._vain = None, 0
        self.era += 1
        return Change.CLOSED

    def _failed(self, now: float, chance: "Random", wish: timedelta | None) -> Change | None:
        self.failures += 1
        was_open = self._look_at is not None
        if not was_open and self.failures < self._rule.after:
            return None
        longest = self._rule.longest.total_seconds()
        doubled = self._rule.pause.total_seconds() * 2 ** min(self._vain, MOST_DOUBLINGS)
        self.pause = min(doubled, longest) * (1 - JITTER * chance.random())
        if wish is not None:
            self.pause = max(self.pause, min(wish.total_seconds(), longest))
        self._vain += 1
        self.era += 1
        self._look_again_at(now + self.pause)
        return Change.STAYED_OPEN if was_open else Change.OPENED

    def _look_again_at(self, time: float) -> None:
        self._look_at, self._has_looker = time, False


def verdict_of(outcome: Outcome, *, is_named: bool, only_calls: bool = False) -> Verdict:
    """What an ending says about the target. An executor that knows is believed; of a target that
    the job named itself, every failure that would be retried is one of the target. Whoever does
    nothing but call it (core/executor.py, Targeting) found it silent when its time was over.
    """
    match outcome:
        case Succeeded():
            return Verdict.UP
        case Failed(reached=True):
            return Verdict.UP
        case Failed(reached=False):
            return Verdict.DOWN
        case Failed(timed_out=True) if only_calls:
            return Verdict.DOWN
        case Failed(final=False) if is_named:
            return Verdict.DOWN
        case _:
            return Verdict.NOTHING
