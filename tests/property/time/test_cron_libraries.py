"""Rota against CronSim and croniter on random expressions, zones and starts (S4, S9; F08, F11).

Each is asked what it can read. A difference must be on the committed list in differences.py.
"""

import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random

import pytest
from croniter import croniter
from cronsim import CronSim
from tests.property.time import cases
from tests.property.time.cases import Taste
from tests.property.time.differences import CRONITER, CRONSIM, Case, Difference

from rota.core.errors import InvalidSchedule
from rota.core.time import cron

# Most comparisons ask for one tick; every tenth walks on, since an answer must be a good start.
STEPS = 5
EVERY = 10
# Eight shards of these, each expression with a zone and a start, for each library. `make test` asks
# 50,000 questions of CronSim and 12,000 of croniter, which is slow; `make test-time` asks 200,000.
ALL = 25_000 if "ROTA_TEST_TIME" in os.environ else None
Question = tuple[str, str, datetime]
Ask = Callable[[], datetime]
Library = Callable[[str, datetime], Ask]


class NeverAnswersError(Exception):
    pass


class PatientCronSim(CronSim):
    """CronSim that gives up instead of looking for ever."""

    steps = 0

    def tick(self, seconds: int = 1) -> None:
        self.steps += 1
        if self.steps > 50_000:
            raise NeverAnswersError
        super().tick(seconds)


def ask_cronsim(text: str, after: datetime) -> Ask:
    return PatientCronSim(text, after).__next__


def ask_croniter(text: str, after: datetime) -> Ask:
    *others, weekday = text.upper().split()
    # croniter writes the last Friday L5, and has an option for crontab(5)'s rule about stars.
    theirs = " ".join([*others, re.sub(r"\b(\d)L\b", r"L\1", weekday)])
    options = {"second_at_beginning": True, "implement_cron_bug": True}
    found: Ask = croniter(theirs, after, ret_type=datetime, **options).get_next
    return found


def answers(library: Library, text: str, after: datetime, steps: int) -> list[datetime | str]:
    """Up to `steps` answers in a row; the last may be the name of an error."""
    got: list[datetime | str] = []
    try:
        ask = library(text, after)
        got.extend(ask().astimezone(UTC) for _ in range(steps))
    except Exception as error:  # noqa: BLE001  whatever a library does is its answer
        got.append(type(error).__name__)
    return got


def first_difference(library: Library, question: Question, *, steps: int) -> Case | None:
    text, zone_name, after = question
    zone = cases.zone(zone_name)
    expression = cron.parse_cron(text)
    for theirs in answers(library, text, after.astimezone(zone), steps):
        tick = cron.find_next_tick(expression, zone, after)
        ours = tick.at if tick else "none"
        if ours != theirs:
            return Case(text=text, zone_name=zone_name, after=after, ours=ours, theirs=theirs)
        assert isinstance(ours, datetime)
        after = ours
    return None


def random_question(chance: Random, **taste: bool) -> Question:
    """An expression that Rota reads, a zone and a start, half of them near a change of clocks."""
    while True:
        zone_name = chance.choice(["UTC", *cases.moving_zones()])
        zone = cases.zone(zone_name)
        near = chance.random() < 0.5
        after = cases.start_near_change(chance, zone) if near else cases.any_start(chance)
        hours = cases.local_hours(zone, after) if near else ()
        text = cases.expression(chance, Taste(seconds=chance.random() < 0.2, hours=hours, **taste))
        if is_readable(text):
            return text, zone_name, after


def is_readable(text: str) -> bool:
    try:
        cron.parse_cron(text)
    except InvalidSchedule:
        return False
    return True


def unexplained(library: Library, known: list[Difference], questions: list[Question]) -> list[Case]:
    found = (
        first_difference(library, question, steps=1 if place % EVERY else STEPS)
        for place, question in enumerate(questions)
    )
    return [case for case in found if case and not any(rule.explains(case) for rule in known)]


@pytest.mark.parametrize("shard", range(8))
def test_every_difference_from_cronsim_is_explained(shard: int) -> None:
    chance = Random(f"cronsim {shard}")
    strange = {"wraps": False, "from_end": False, "nearest": False}
    questions = [random_question(chance, **strange) for _ in range(ALL or 6_250)]

    found = unexplained(ask_cronsim, CRONSIM, questions)

    assert found == []


@pytest.mark.parametrize("shard", range(8))
def test_every_difference_from_croniter_is_explained(shard: int) -> None:
    chance = Random(f"croniter {shard}")
    strange = {"from_end": False, "last_workday": False}
    questions = [random_question(chance, **strange) for _ in range(ALL or 1_500)]

    found = unexplained(ask_croniter, CRONITER, questions)

    assert found == []


@pytest.mark.parametrize("rule", CRONSIM, ids=lambda rule: rule.name)
def test_an_explained_difference_from_cronsim_still_exists(rule: Difference) -> None:
    text, zone_name, _ = rule.example

    case = first_difference(ask_cronsim, (text, zone_name, rule.after), steps=STEPS)

    assert case is not None
    assert [known.name for known in CRONSIM if known.explains(case)] == [rule.name]


@pytest.mark.parametrize("rule", CRONITER, ids=lambda rule: rule.name)
def test_an_explained_difference_from_croniter_still_exists(rule: Difference) -> None:
    text, zone_name, _ = rule.example

    case = first_difference(ask_croniter, (text, zone_name, rule.after), steps=STEPS)

    assert case is not None
    assert [known.name for known in CRONITER if known.explains(case)] == [rule.name]
