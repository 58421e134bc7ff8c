"""The operation that rehearses expectations over the history of runs."""

from datetime import timedelta
from typing import Final

from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.schemas.expectations import Rehearsal, RehearsalDraft, RehearsedRule
from rota.api.schemas.field_types import format_time
from rota.contract.expectation_values import to_route_steps
from rota.contract.expectations import RuleDraft
from rota.core.access import Permission
from rota.core.alerts.conditions import Expectation
from rota.core.alerts.finding import derive_expectation_id
from rota.core.alerts.routes import AlertRoute, AlertTargets
from rota.core.submissions import prefix_errors
from rota.core.time import durations
from rota.core.time.budget import Check
from rota.engine.alerting.rehearsal import (
    RehearsalInput,
    RehearsalRequest,
    RehearsedExpectation,
    read_rehearsal,
    rehearse,
)
from rota.engine.submission.alert_rules import RuleContext, build_new_rule, check_definition
from rota.store import alert_routes, expectations

SINCE_MIN: Final = timedelta(minutes=1)
SINCE_MAX: Final = timedelta(days=90)


@operation(
    "POST",
    "/v1/expectations/rehearse",
    tag="expectations",
    permission=Permission.READ,
    # It computes outside its transaction.
    scope="none",
    body=RehearsalDraft,
    body_required=False,
    answer=Rehearsal,
    problems=("quota_exceeded",),
    example={
        "rules": [{"name": "failures", "when": {"failures": {"streak": 2}}}],
        "since": "30d",
    },
)
async def rehearse_expectations(call: Call) -> Reply:
    """Rehearse rules: replay them over the history and count incidents and messages.

    Stores and sends nothing. Reads at most 100,000 runs, the newest first. Acknowledgements,
    silences and storm limits are not replayed, so the number of messages is an upper bound.
    """
    draft: RehearsalDraft = call.body or RehearsalDraft()
    since = durations.parse(draft.since, field="since", minimum=SINCE_MIN, maximum=SINCE_MAX)
    async with call.open_tenant_transaction():
        targets = await alert_routes.read_targets(call.conn, tenant_id=call.tenant_id)
        stored = await alert_routes.read_routes(call.conn, tenant_id=call.tenant_id)
        routes = {name: route for (_, name), route in stored.items()}
        routes |= read_declared_routes(call, draft, targets)
        if draft.rules is None:
            rules = await expectations.read_expectations(call.conn, tenant_id=call.tenant_id)
        else:
            known = AlertTargets(routes=targets.routes | routes.keys(), channels=targets.channels)
            rules = read_declared_rules(call, draft.rules, known)
        request = RehearsalRequest(
            tenant_id=call.tenant_id,
            rules=rules,
            routes=routes,
            since=call.now - since,
            include_jobs=draft.include_jobs,
        )
        given = await read_rehearsal(call.conn, request, now=call.now)

    def compute(check: Check) -> Rehearsal:
        return build_rehearsal_view(given, rehearse(given, check))

    return Reply(await call.compute(compute))


def read_declared_routes(
    call: Call, draft: RehearsalDraft, targets: AlertTargets
) -> dict[str, AlertRoute]:
    routes: dict[str, AlertRoute] = {}
    for name, drafts in draft.routes.items():
        steps = to_route_steps(drafts, name=f"routes.{name}")
        targets.check_channels(steps, f"routes.{name}")
        routes[name] = AlertRoute(tenant_id=call.tenant_id, name=name, steps=steps)
    return routes


def read_declared_rules(
    call: Call, drafts: list[RuleDraft], targets: AlertTargets
) -> list[Expectation]:
    context = RuleContext(principal=call.principal, targets=targets, now=call.now)
    rules: list[Expectation] = []
    for place, draft in enumerate(drafts):
        with prefix_errors(f"rules[{place}]"):
            rule = build_new_rule(draft, tenant_id=call.tenant_id)
            check_definition(rule, context)
        rules.append(
            Expectation(
                id=derive_expectation_id(f"rehearsal:{rule.name}", rule.condition.code),
                tenant_id=call.tenant_id,
                name=rule.name,
                condition=rule.condition,
                selector=rule.selector,
                policy=rule.policy,
            )
        )
    return rules


def build_rehearsal_view(given: RehearsalInput, rehearsed: list[RehearsedExpectation]) -> Rehearsal:
    rules = [build_rehearsed_rule(each) for each in rehearsed]
    return Rehearsal(
        since=format_time(given.since),
        until=format_time(given.now),
        runs=len(given.runs),
        is_complete=given.is_complete,
        incidents=sum(rule.incidents for rule in rules),
        messages=sum(rule.messages for rule in rules),
        rules=rules,
    )


def build_rehearsed_rule(each: RehearsedExpectation) -> RehearsedRule:
    incidents = each.incidents
    return RehearsedRule(
        name=each.expectation.name,
        origin=each.origin,
        condition=each.expectation.condition.code,
        incidents=len(incidents),
        messages=each.messages,
        subjects=each.affected,
        first_at=format_time(incidents[0].opened_at) if incidents else None,
        last_at=format_time(incidents[-1].opened_at) if incidents else None,
        example=incidents[-1].title if incidents else None,
        skipped=each.skipped,
    )
