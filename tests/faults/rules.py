"""What a trial must keep to: which figures are violations, and of what."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.faults.figures import Figures

# 409 is for a repetition that comes while the first request is still being carried out.
ALLOWED_ANSWERS = frozenset({"200", "201", "409", "503", "timeout", "refused", "broken"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """`outage` is one of the database: then no process ends and no attempt starts again."""

    outage: bool = False
    may_end: frozenset[str] = field(default_factory=frozenset)
    not_judged: frozenset[str] = field(default_factory=frozenset)


def find_violations(figures: Figures, rules: Rules) -> Iterator[str]:
    if not figures.acknowledged:
        yield "nothing was acknowledged"
    for name, count in {
        "acknowledged submissions are lost": figures.lost,
        "ticks have no run": figures.tick_holes,
        "ticks have two runs": figures.tick_doubles,
        "at-most-once runs started twice": figures.at_most_once_twice,
        "at-most-once runs overlapped": figures.overlaps_at_most_once,
        "runs overlapped of jobs that forbid it": figures.overlaps_exclusive,
        "answers of 503 had no Retry-After": figures.without_retry_after,
    }.items():
        if count:
            yield f"{count} {name}"
    for said in sorted(figures.answers.keys() - ALLOWED_ANSWERS):
        yield f"the client saw {figures.answers[said]} × {said}"
    for invariant, line in figures.violated.items():
        if invariant not in rules.not_judged:
            yield line
    yield from figures.extra.get("violations", ())
    if rules.outage:
        yield from find_outage_violations(figures)
    ended = [each for each in figures.exits if each[0] not in rules.may_end]
    if ended:
        told = ", ".join(f"{name} ({code}) at {at}" for name, code, at in ended[:4])
        yield f"{len(ended)} processes ended: {told}"


def find_outage_violations(figures: Figures) -> Iterator[str]:
    if figures.at_most_once_discarded:
        yield f"{figures.at_most_once_discarded} finished at-most-once runs ended as lost"
    if figures.restarted:
        yield f"{figures.restarted} runs started again while their attempt was under way"
