"""Jobs as the simulation writes them, and the ticks they owe by arithmetic of its own.

Every cadence here is `origin + n · period`: an interval counts from when it was written, a cron
expression that divides the minute from midnight, and a single time is one such instant. So what a
job owes is a division, and nothing of core/time is asked.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from rota.core.limits import JobLimit, RateLimit
from rota.core.outcome import Guarantee
from rota.core.overlap import Overlap, WhenQueuePaused
from rota.core.policy import DelayGrowth, Policy, RetryJitter, RetryPolicy
from rota.core.submissions import JobSpec
from rota.core.time.policies import CatchUp

MIDNIGHT = datetime(2026, 7, 1, tzinfo=UTC)
BACK_OFF = timedelta(seconds=3)
# What the keys of limits mean, here and in the checks.
AT_ONCE = {"one": 1, "two": 2}
SPACING = timedelta(seconds=2)
BURST = 2
LIMITS = {
    "one": JobLimit(key="one", max_running=1),
    "two": JobLimit(key="two", max_running=2),
    "slow": JobLimit(key="slow", rate=RateLimit(count=BURST, per=SPACING * BURST, burst=BURST)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cadence:
    """`seconds` is a period, or for `at` how long from now."""

    sort: str
    seconds: int

    def written(self, now: datetime) -> dict[str, object]:
        match self.sort:
            case "cron":
                return {"cron": f"*/{self.seconds} * * * * *"}
            case "every":
                return {"every": f"{self.seconds}s"}
            case _:
                return {"at": (now + timedelta(seconds=self.seconds)).isoformat()}

    def owed(self, now: datetime) -> "Stretch":
        """The ticks that begin when this is written at `now`."""
        period = timedelta(seconds=self.seconds)
        match self.sort:
            case "cron":
                return Stretch(origin=MIDNIGHT, period=period, after=now)
            case "every":
                return Stretch(origin=now.replace(microsecond=0), period=period, after=now)
            case _:
                return Stretch(origin=now + period, period=None, after=now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """The ticks of one schedule after `after` and, once it was replaced, not after `until`."""

    origin: datetime
    period: timedelta | None
    after: datetime
    until: datetime | None = None

    def ticks(self, before: datetime | None) -> Iterator[datetime]:
        """Those that are to be decided; `before` is where the cursor stands, None at the end."""
        if self.period is None:
            ticks = [self.origin]
        else:
            end = before if self.until is None else self.until
            assert end is not None, "a schedule without end lost its cursor"
            first = max(0, (self.after - self.origin) // self.period + 1)
            last = (end - self.origin) // self.period
            ticks = [self.origin + n * self.period for n in range(first, last + 1)]
        for tick in ticks:
            if self.until is None and before is not None and tick >= before:
                return
            if self.after < tick and (self.until is None or tick <= self.until):
                yield tick


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A job that is to be written."""

    cadence: Cadence | None
    overlap: Overlap = Overlap.SKIP
    guarantee: Guarantee = Guarantee.AT_LEAST_ONCE
    retries: int = 1
    deadline: timedelta | None = None
    on_outage: CatchUp = CatchUp.ONCE
    on_resume: CatchUp = CatchUp.SKIP
    limit: str | None = None
    keep_first: bool = False

    @property
    def when_queue_paused(self) -> WhenQueuePaused:
        """Not drawn by itself: with a choice more for each job fewer mistakes are found in time."""
        return WhenQueuePaused.ACCUMULATE if self.keep_first else WhenQueuePaused.SKIP

    @property
    def policy(self) -> Policy:
        return Policy(
            retries=RetryPolicy(
                max_retries=self.retries,
                growth=DelayGrowth.CONSTANT,
                base_delay=BACK_OFF,
                jitter=RetryJitter.NONE,
            ),
            deadline=self.deadline,
            guarantee=self.guarantee,
        )

    def schedule(self, cadence: Cadence, now: datetime) -> dict[str, object]:
        misfire = {
            "on_outage": self.on_outage.value,
            "on_resume": self.on_resume.value,
            "late_after": "5s",
            "max_catchup": 3,
        }
        return {**cadence.written(now), "misfire": misfire}

    def submission(self, now: datetime, seconds: float) -> JobSpec:
        """The same as a one-time run of its kind, so long from now."""
        schedule: dict[str, object] = {"immediate": True}
        if seconds:
            schedule = {"at": (now + timedelta(seconds=seconds)).isoformat()}
        limits = () if self.limit is None else (LIMITS[self.limit],)
        return JobSpec(name=None, kind="noop", schedule=schedule, policy=self.policy, limits=limits)

    def spec(self, name: str, now: datetime) -> JobSpec:
        return JobSpec(
            name=name,
            kind="noop",
            schedule=None if self.cadence is None else self.schedule(self.cadence, now),
            policy=self.policy,
            overlap=self.overlap,
            keep_first=self.keep_first and self.overlap is Overlap.QUEUE_ONE,
            when_queue_paused=self.when_queue_paused,
            limits=() if self.limit is None else (LIMITS[self.limit],),
        )


regular = st.one_of(
    st.builds(Cadence, sort=st.just("every"), seconds=st.sampled_from([2, 3, 7])),
    st.builds(Cadence, sort=st.just("cron"), seconds=st.sampled_from([2, 5, 10])),
)
cadences = st.one_of(
    regular, st.builds(Cadence, sort=st.just("at"), seconds=st.sampled_from([1, 4]))
)


def planned(cadence: st.SearchStrategy[Cadence | None]) -> st.SearchStrategy[Plan]:
    return st.builds(
        Plan,
        cadence=cadence,
        overlap=st.sampled_from(Overlap),
        guarantee=st.sampled_from([Guarantee.AT_LEAST_ONCE, Guarantee.AT_MOST_ONCE]),
        retries=st.integers(0, 2),
        deadline=st.sampled_from([None, None, timedelta(seconds=12)]),
        on_outage=st.sampled_from(CatchUp),
        on_resume=st.sampled_from(CatchUp),
        limit=st.sampled_from([None, None, *LIMITS]),
        keep_first=st.booleans(),
    )


# A job that fires once is soon over, and one without ticks never begins by itself.
periodic = planned(regular)
plans = planned(st.one_of(cadences, st.none()))
