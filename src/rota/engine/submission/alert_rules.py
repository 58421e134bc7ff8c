"""Checks a rule before it is stored: its route, its selector, and its condition against the jobs
that it matches.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from rota.contract.expectation_values import to_alert_policy, to_rule_condition, to_selector
from rota.contract.expectations import RuleDraft
from rota.contract.graph import read_stored_graph
from rota.contract.schedule import read_stored_schedule
from rota.core.access import Permission, Principal, require_permission
from rota.core.alerts.conditions import ClockCondition, FiringLag
from rota.core.alerts.finding import SubjectKind
from rota.core.alerts.matching import choose_subject_kind, matches_pattern
from rota.core.alerts.routes import AlertTargets
from rota.core.alerts.rules import NewRule
from rota.core.alerts.validation import CHECK_STEPS_MAX, ConditionChecker
from rota.core.errors import InvalidInput
from rota.core.submissions import check_visible_name, prefix_errors
from rota.core.time.budget import SearchBudget
from rota.core.time.planning import NO_CALENDARS
from rota.store import calendars as stored_calendars
from rota.store import expectations
from rota.store.driver import Connection
from rota.store.expectations import MatchedJob

# Jobs against which a rule is checked.
CHECKED_JOBS_MAX: Final = 100
# Steps of search for all of them.
RULE_STEPS_MAX: Final = 10 * CHECK_STEPS_MAX
WARNINGS_MAX: Final = 3
NAMES_SHOWN_MAX: Final = 10
CLOCK_CONDITIONS: Final = ClockCondition.__args__


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleContext:
    """Who stores a rule, when, and which routes and channels exist."""

    principal: Principal
    targets: AlertTargets
    now: datetime


def build_new_rule(draft: RuleDraft, *, tenant_id: int, project: str | None = None) -> NewRule:
    """Convert a document into a rule."""
    return NewRule(
        tenant_id=tenant_id,
        name=check_visible_name(draft.name, "name"),
        condition=to_rule_condition(draft.when),
        selector=to_selector(draft.match),
        policy=to_alert_policy(draft),
        is_enabled=draft.enabled,
        project=project,
    )


def check_definition(rule: NewRule, context: RuleContext) -> None:
    """Refuse a rule that is invalid whatever it matches."""
    if isinstance(rule.condition, FiringLag):
        require_permission(context.principal, Permission.PLATFORM)
    if rule.policy.route is not None:
        context.targets.check_target(rule.policy.route, "to")
    _refuse_selector(rule)


async def check_rule(conn: Connection, rule: NewRule, context: RuleContext) -> list[str]:
    """Refuse an invalid rule; return warnings about one that is probably a mistake."""
    check_definition(rule, context)
    kind = choose_subject_kind(rule.condition, rule.selector)
    if kind in {SubjectKind.PLATFORM, SubjectKind.QUEUE}:
        return []
    is_clock = isinstance(rule.condition, CLOCK_CONDITIONS)
    found = await expectations.find_matching_jobs(
        conn,
        rule.selector,
        tenant_id=rule.tenant_id,
        limit=CHECKED_JOBS_MAX,
        with_ticks=is_clock,
    )
    if rule.selector.step is not None:
        return _check_steps(rule, found)
    if not found and kind is SubjectKind.TASK:
        return []
    if not found:
        what = "no job with a schedule" if is_clock else "no job"
        return [f"match: matches {what} at present"]
    return await _check_schedules(conn, rule, found, context.now) if is_clock else []


def _refuse_selector(rule: NewRule) -> None:
    """Refuse fields that have no meaning for the condition."""
    kind = choose_subject_kind(rule.condition, rule.selector)
    refused: tuple[str, ...] = ()
    if kind is SubjectKind.PLATFORM:
        refused = ("job", "step", "task", "queue", "labels")
    elif kind is SubjectKind.QUEUE:
        refused = ("job", "step", "task", "labels")
    elif isinstance(rule.condition, CLOCK_CONDITIONS):
        refused = ("step",)
    for name in refused:
        value = getattr(rule.selector, name)
        if value:
            allowed = [
                other for other in ("job", "task", "queue", "labels") if other not in refused
            ]
            only = f"only {', '.join(allowed)}" if allowed else "no selector"
            wanted = f"{rule.condition.code} allows {only}; omit it"
            raise InvalidInput(f"match.{name}", value, wanted)


def _check_steps(rule: NewRule, found: Sequence[MatchedJob]) -> list[str]:
    """Refuse a step that the named job does not have; warn if no step matches a pattern."""
    pattern = rule.selector.step or ""
    known = {job.name: list(_list_steps(job)) for job in found}
    if any(matches_pattern(pattern, step) for steps in known.values() for step in steps):
        return []
    if rule.selector.job in known and "*" not in pattern:
        steps = known[rule.selector.job]
        shown = ", ".join(steps[:NAMES_SHOWN_MAX]) or "none"
        wanted = f"job {rule.selector.job!r} has no such step; its steps: {shown}"
        raise InvalidInput("match.step", pattern, wanted)
    return ["match: matches no step of a graph at present"]


def _list_steps(job: MatchedJob) -> Iterator[str]:
    if job.graph is not None:
        for step in read_stored_graph(json.loads(job.graph)).steps:
            yield step.name


async def _check_schedules(
    conn: Connection, rule: NewRule, found: Sequence[MatchedJob], now: datetime
) -> list[str]:
    """Check a clock condition against the schedules of jobs. A rule that names one job is refused;
    others get warnings, because the jobs that they match change.
    """
    known, budget = NO_CALENDARS, SearchBudget(RULE_STEPS_MAX)
    if any("calendars" in (job.schedule or "") for job in found):
        known = await stored_calendars.read_calendars(conn, tenant_id=rule.tenant_id)
    warnings: list[str] = []
    names_one = rule.selector.job is not None and "*" not in rule.selector.job
    for job in found:
        schedule = read_stored_schedule(json.loads(job.schedule or "{}"), seed=str(job.id))
        part = budget.create_part(CHECK_STEPS_MAX)
        checker = ConditionChecker(schedule, now, calendars=known, budget=part)
        try:
            with prefix_errors("when"):
                new = checker.check([rule.condition], is_rule=True)
        except InvalidInput as error:
            if names_one:
                raise
            new = [str(error)] if schedule.has_ticks else []
        budget.spent += part.spent
        warnings += [f"job {job.name!r}: {warning}" for warning in new]
        if len(warnings) >= WARNINGS_MAX or budget.spent >= budget.limit:
            break
    return warnings[:WARNINGS_MAX]
