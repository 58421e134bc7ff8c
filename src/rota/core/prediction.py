"""Predicts when a run will finish, with a probability, from the job's own history.

The prediction has two parts. A *centre* is the typical duration for this run: the median of all
recent runs, of the last few, or of all recent runs with an effect of the weekday or the day of the
month. The centre that would have predicted the past best is used. The *spread* is the distribution
of what that centre missed in the past, each time computed from earlier runs only. Probabilities are
read off the ranks of these residuals (split conformal prediction), so a stated 90 % is right in
about 90 % of cases whatever the shape of the distribution. For a run that is already running, only
the residuals count that are longer than it has run so far.

With fewer than `SAMPLES_MIN` runs there is no prediction, and `reason` says so.
"""

from calendar import monthrange
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import ceil, exp, log
from statistics import median
from typing import Final

# Fewer runs than this give no prediction: the 90 % quantile needs nine residuals.
SAMPLES_MIN: Final = 15
# Older runs say little about the next one, and each costs time.
SAMPLES_MAX: Final = 200
# The first runs have too few predecessors for a centre of their own.
WARM_UP: Final = 5
RESIDUALS_MAX: Final = 50
CENTRE_WINDOW: Final = 50
RECENT_WINDOW: Final = 5
# A special centre is used only if it was this much better than the plain one.
ADVANTAGE_MIN: Final = 0.9
# Runs of the same weekday or day that count as much as no effect.
EFFECT_SHRINKAGE: Final = 2.0
# A running run that has outlasted all but this many of its predecessors cannot be predicted.
TAIL_MIN: Final = 5
LIKELY: Final = 0.9
DURATION_MIN_S: Final = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSample:
    """A finished run: the local day of its tick, its durations in seconds, and whether it
    succeeded. `total_s` counts from the due time, `running_s` from the start of its last attempt.
    """

    day: date
    total_s: float
    running_s: float
    succeeded: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedRun:
    """The run to predict. `started_at` is None before it starts."""

    day: date
    due_at: datetime
    started_at: datetime | None = None
    deadline: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishPrediction:
    """When a run will finish. `expected_at` is the median, `likely_by` holds in 9 of 10 cases.

    `probability` is that of success by the deadline; None without a deadline. `basis` says what the
    prediction is made of. If `reason` is set, there is no prediction, and it says why.
    """

    samples: int
    expected_at: datetime | None = None
    likely_by: datetime | None = None
    probability: float | None = None
    basis: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class LoggedDuration:
    """A duration as a logarithm, with the day that may explain it."""

    day: date
    value: float


Centre = Callable[[Sequence[LoggedDuration], date], float]


def predict_finish(
    history: Sequence[RunSample], run: PredictedRun, *, now: datetime
) -> FinishPrediction:
    """Predict when `run` will finish. `history` is in time order, the newest last."""
    successes = [sample for sample in history if sample.succeeded][-SAMPLES_MAX:]
    if len(successes) < SAMPLES_MIN:
        return FinishPrediction(
            samples=len(successes),
            reason=f"too little history: {len(successes)} successful runs, {SAMPLES_MIN} needed",
        )
    origin = run.due_at if run.started_at is None else run.started_at
    logged = [
        LoggedDuration(
            sample.day,
            log(
                max(sample.total_s if run.started_at is None else sample.running_s, DURATION_MIN_S)
            ),
        )
        for sample in successes
    ]
    name, residuals = choose_centre(logged)
    centre = CENTRES[name](logged, run.day)
    elapsed = (now - origin).total_seconds()
    longer = select_longer(residuals, centre, elapsed)
    if len(longer) < TAIL_MIN:
        done = len(residuals) - len(longer)
        return FinishPrediction(
            samples=len(successes),
            reason=f"it has already taken longer than {done} of {len(residuals)} earlier runs",
        )
    share = compute_success_share(history)
    return FinishPrediction(
        samples=len(successes),
        expected_at=find_quantile(longer, centre, origin, 0.5),
        likely_by=find_quantile(longer, centre, origin, LIKELY),
        probability=None
        if run.deadline is None
        else share * compute_probability(longer, centre, (run.deadline - origin).total_seconds()),
        basis=f"{len(successes)} runs{BASIS_TEXTS[name]}",
    )


def choose_centre(logged: Sequence[LoggedDuration]) -> tuple[str, list[float]]:
    """Return the centre that predicted the past best, and what it missed each time, sorted."""
    chosen, residuals = PLAIN_CENTRE, compute_residuals(logged, CENTRES[PLAIN_CENTRE])
    best = sum(map(abs, residuals)) * ADVANTAGE_MIN
    for name, centre in CENTRES.items():
        if name == PLAIN_CENTRE:
            continue
        candidates = compute_residuals(logged, centre)
        error = sum(map(abs, candidates))
        if error < best:
            chosen, residuals, best = name, candidates, error
    return chosen, sorted(residuals)


def compute_residuals(logged: Sequence[LoggedDuration], centre: Centre) -> list[float]:
    """Return by how much the centre of all earlier runs missed each of the newest runs."""
    first = max(WARM_UP, len(logged) - RESIDUALS_MAX)
    return [
        item.value - centre(logged[max(0, place - CENTRE_WINDOW) : place], item.day)
        for place, item in enumerate(logged)
        if place >= first
    ]


def compute_plain_centre(earlier: Sequence[LoggedDuration], _day: date) -> float:
    return median(item.value for item in earlier[-CENTRE_WINDOW:])


def compute_recent_centre(earlier: Sequence[LoggedDuration], _day: date) -> float:
    return median(item.value for item in earlier[-RECENT_WINDOW:])


def compute_weekday_centre(earlier: Sequence[LoggedDuration], day: date) -> float:
    return add_effect(earlier, lambda other: other.weekday() == day.weekday())


def compute_month_centre(earlier: Sequence[LoggedDuration], day: date) -> float:
    """The same day of the month; the last days of two months count as the same day."""
    return add_effect(
        earlier,
        lambda other: other.day == day.day or (is_last_of_month(other) and is_last_of_month(day)),
    )


def add_effect(earlier: Sequence[LoggedDuration], is_same_kind: Callable[[date], bool]) -> float:
    """Return the plain centre plus the effect of days of the same kind, shrunk if there are few."""
    window = earlier[-CENTRE_WINDOW:]
    plain = median(item.value for item in window)
    similar = [item.value - plain for item in window if is_same_kind(item.day)]
    if not similar:
        return plain
    return plain + median(similar) * len(similar) / (len(similar) + EFFECT_SHRINKAGE)


def is_last_of_month(day: date) -> bool:
    return day.day == monthrange(day.year, day.month)[1]


PLAIN_CENTRE: Final = "all"
CENTRES: Final[dict[str, Centre]] = {
    PLAIN_CENTRE: compute_plain_centre,
    "recent": compute_recent_centre,
    "weekday": compute_weekday_centre,
    "month": compute_month_centre,
}
BASIS_TEXTS: Final = {
    PLAIN_CENTRE: "",
    "recent": ", mostly the last five",
    "weekday": ", adjusted by weekday",
    "month": ", adjusted by day of the month",
}


def select_longer(residuals: Sequence[float], centre: float, elapsed_s: float) -> list[float]:
    """Return the residuals that are still possible for a run that took `elapsed_s` so far."""
    if elapsed_s <= 0:
        return list(residuals)
    so_far = log(max(elapsed_s, DURATION_MIN_S)) - centre
    return [residual for residual in residuals if residual > so_far]


def find_quantile(
    residuals: Sequence[float], centre: float, origin: datetime, share: float
) -> datetime | None:
    """Return the time by which this share of runs finishes; None if too few are left to tell."""
    rank = ceil((len(residuals) + 1) * share)
    if rank > len(residuals):
        return None
    return origin + timedelta(seconds=exp(centre + residuals[rank - 1]))


def compute_probability(residuals: Sequence[float], centre: float, limit_s: float) -> float:
    """Return the probability that a run takes at most `limit_s`."""
    if limit_s <= 0:
        return 0.0
    limit = log(max(limit_s, DURATION_MIN_S)) - centre
    below = sum(residual <= limit for residual in residuals)
    return (below + 0.5) / (len(residuals) + 1)


def compute_success_share(history: Sequence[RunSample]) -> float:
    """Return the share of recent runs that succeeded."""
    recent = history[-CENTRE_WINDOW:]
    return sum(sample.succeeded for sample in recent) / len(recent)
