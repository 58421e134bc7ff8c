"""Operations for expectations: rules over many subjects, and what is expected of one job."""

import json
from typing import Any, Final, Literal

from msgspec import UNSET, structs

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import ListPage, read_cursor, write_cursor
from rota.api.resources.endpoint_steps import (
    read_expected_version,
    read_job_row,
    write_audit_entry,
)
from rota.api.schemas.expectations import (
    ExpectationEdit,
    ExpectationView,
    JobExpectations,
    JobExpectationView,
)
from rota.api.schemas.field_types import format_optional_time, format_time
from rota.api.schemas.runs import PageQuery
from rota.contract.documents import read_input
from rota.contract.expectation_values import (
    build_job_expectations,
    read_stored_policy,
    write_conditions,
)
from rota.contract.expectations import RuleDraft
from rota.core.access import Permission
from rota.core.alerts.conditions import Expectation
from rota.core.alerts.defaults import list_default_expectations
from rota.core.alerts.finding import AlertSubject, SubjectKind
from rota.core.alerts.matching import SubjectTraits, choose_subject_kind, list_effective
from rota.core.alerts.rules import NewRule
from rota.core.errors import VersionChanged
from rota.core.time import durations
from rota.engine.submission.alert_rules import RuleContext, build_new_rule, check_rule
from rota.store import alert_routes, expectations
from rota.store.expectations import ExpectationState, RuleRow
from rota.store.job_views import JobRow

EXAMPLE: Final = {
    "name": "billing failures",
    "match": {"labels": {"team": "billing"}},
    "when": {"failures": {"streak": 2}},
    "severity": "page",
}


def build_rule_view(row: RuleRow, warnings: list[str] | None = None) -> ExpectationView:
    policy = read_stored_policy(json.loads(row.policy))
    return ExpectationView(
        expectation_id=identifiers.format_id("exp", row.id),
        name=row.name,
        match=json.loads(row.selector),
        when=json.loads(row.condition),
        to=policy.route,
        severity=policy.severity.value,
        hold_for=durations.to_iso(policy.hold_for),
        clear=policy.clear_successes,
        recovery=policy.recovery,
        enabled=row.is_enabled,
        project=row.project,
        version=row.version,
        created_at=format_time(row.created_at),
        updated_at=format_time(row.updated_at),
        warnings=warnings or [],
    )


def reply_rule(row: RuleRow, warnings: list[str] | None = None) -> Reply:
    view = build_rule_view(row, warnings)
    headers = {"ETag": f'"{row.version}"', "Location": f"/v1/expectations/{view.expectation_id}"}
    return Reply(view, headers=headers)


async def check_new_rule(call: Call, rule: NewRule) -> list[str]:
    targets = await alert_routes.read_targets(call.conn, tenant_id=call.tenant_id)
    context = RuleContext(principal=call.principal, targets=targets, now=call.now)
    return await check_rule(call.conn, rule, context)


def build_audit_details(row: RuleRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "match": json.loads(row.selector),
        "when": json.loads(row.condition),
        "enabled": row.is_enabled,
        **json.loads(row.policy),
    }


@operation(
    "POST",
    "/v1/expectations",
    tag="expectations",
    permission=Permission.DEFINE,
    body=RuleDraft,
    answer=ExpectationView,
    status=201,
    problems=("conflict", "quota_exceeded"),
    example=EXAMPLE,
)
async def create_expectation(call: Call) -> Reply:
    """Create a rule: one condition for all subjects that match.

    A rule that matches nothing at present is created with a warning. The condition `lag` is about
    the installation and needs the role platform.
    """
    rule = build_new_rule(call.body, tenant_id=call.tenant_id)
    warnings = await check_new_rule(call, rule)
    row = await expectations.create_rule(call.conn, call.service.new_id(), rule)
    await write_audit_entry(
        call,
        "expectation.create",
        "expectation",
        identifiers.format_id("exp", row.id),
        build_audit_details(row),
    )
    return reply_rule(row, warnings)


@operation(
    "GET",
    "/v1/expectations",
    tag="expectations",
    permission=Permission.READ,
    query=PageQuery,
    answer=ListPage[ExpectationView],
    problems=("malformed_request",),
)
async def list_expectations(call: Call) -> Reply:
    """List rules by name."""
    query: PageQuery = call.query
    place = read_cursor(query.cursor, ["expectations"])
    found = await expectations.list_rules(
        call.conn,
        tenant_id=call.tenant_id,
        after="" if place is None else place[0],
        limit=query.limit + 1,
    )
    shown = found[: query.limit]
    more = write_cursor(["expectations"], [shown[-1].name]) if len(found) > query.limit else None
    data = [build_rule_view(row) for row in shown]
    return Reply(ListPage[ExpectationView](data=data, next_cursor=more))


@operation(
    "GET",
    "/v1/expectations/{expectation_id}",
    tag="expectations",
    permission=Permission.READ,
    answer=ExpectationView,
)
async def get_expectation(call: Call) -> Reply:
    """Get a rule."""
    return reply_rule(await read_rule(call))


async def read_rule(call: Call) -> RuleRow:
    rule_id = identifiers.parse_id("expectation_id", call.params["expectation_id"])
    return await expectations.get_rule(call.conn, rule_id, tenant_id=call.tenant_id)


@operation(
    "PATCH",
    "/v1/expectations/{expectation_id}",
    tag="expectations",
    permission=Permission.DEFINE,
    body=ExpectationEdit,
    answer=ExpectationView,
    problems=("conflict", "version_changed"),
    example={"severity": "page", "for": "5m"},
)
async def update_expectation(call: Call) -> Reply:
    """Change a rule.

    An open incident of the rule stays open; its next check decides.
    """
    edit: ExpectationEdit = call.body
    before = await read_rule(call)
    wanted = read_expected_version(call)
    if wanted is not None and wanted != before.version:
        raise VersionChanged("expectation", wanted, before.version)
    rule = merge_rule(before, edit, tenant_id=call.tenant_id)
    warnings = await check_new_rule(call, rule)
    row = await expectations.replace_rule(call.conn, before.id, rule, version=before.version)
    await write_audit_entry(
        call,
        "expectation.update",
        "expectation",
        identifiers.format_id("exp", row.id),
        build_audit_details(row),
        build_audit_details(before),
    )
    return reply_rule(row, warnings)


def merge_rule(before: RuleRow, edit: ExpectationEdit, *, tenant_id: int) -> NewRule:
    """Return the rule after an edit."""
    document = {
        "name": before.name,
        "when": json.loads(before.condition),
        "match": json.loads(before.selector),
        "enabled": before.is_enabled,
        **json.loads(before.policy),
    }
    draft = read_input(RuleDraft, document)
    changes = {
        name: getattr(edit, name)
        for name in edit.__struct_fields__
        if getattr(edit, name) is not UNSET
    }
    return build_new_rule(
        structs.replace(draft, **changes), tenant_id=tenant_id, project=before.project
    )


@operation(
    "DELETE",
    "/v1/expectations/{expectation_id}",
    tag="expectations",
    permission=Permission.DEFINE,
    status=204,
)
async def delete_expectation(call: Call) -> Reply:
    """Delete a rule.

    Its open incidents end.
    """
    rule_id = identifiers.parse_id("expectation_id", call.params["expectation_id"])
    row = await expectations.delete_rule(call.conn, rule_id, tenant_id=call.tenant_id)
    await write_audit_entry(
        call,
        "expectation.delete",
        "expectation",
        identifiers.format_id("exp", row.id),
        None,
        build_audit_details(row),
    )
    return Reply()


@operation(
    "GET",
    "/v1/jobs/{job_id}/expectations",
    tag="expectations",
    permission=Permission.READ,
    answer=JobExpectations,
)
async def list_job_expectations(call: Call) -> Reply:
    """List what is expected of a job.

    Its own conditions, the rules that match it, and the defaults that apply; each with its state,
    its next check and its open incident.
    """
    job = await read_job_row(call)
    own = build_job_expectations(
        job_id=job.id,
        tenant_id=call.tenant_id,
        job_name=job.name,
        expect=None if job.expect is None else json.loads(job.expect),
        alert=None if job.alert is None else json.loads(job.alert),
    )
    rules: list[Expectation] = [
        *await expectations.read_expectations(call.conn, tenant_id=call.tenant_id),
        *list_default_expectations(call.tenant_id),
    ]
    traits = SubjectTraits(
        job=job.name, task=job.kind, queue=job.queue, labels=json.loads(job.labels or "{}")
    )
    found = list_effective(traits, rules, own)
    keys = [(expectation.id, build_subject(expectation, job).key) for expectation in found]
    states = await expectations.read_states(call.conn, keys, tenant_id=call.tenant_id)
    data = [
        build_job_expectation_view(expectation, states.get(key))
        for expectation, key in zip(found, keys, strict=True)
    ]
    return Reply(JobExpectations(data=data))


def build_subject(expectation: Expectation, job: JobRow) -> AlertSubject:
    """Return the subject of an expectation that applies to a job."""
    kind = SubjectKind.JOB
    if expectation.job_id is None:
        kind = choose_subject_kind(expectation.condition, expectation.selector)
    if kind is SubjectKind.TASK:
        return AlertSubject(kind=kind, id=job.kind or "", name=job.kind or "")
    if kind is SubjectKind.QUEUE:
        return AlertSubject(kind=kind, id=job.queue or "", name=job.queue or "")
    return AlertSubject(kind=SubjectKind.JOB, id=job.id.hex, name=job.name)


def build_job_expectation_view(
    expectation: Expectation, known: ExpectationState | None
) -> JobExpectationView:
    origin: Literal["job", "rule", "default"] = "rule"
    if expectation.is_default:
        origin = "default"
    elif expectation.job_id is not None:
        origin = "job"
    incident_id = None if known is None else known.incident_id
    return JobExpectationView(
        expectation_id=identifiers.format_id("exp", expectation.id),
        name=expectation.name,
        origin=origin,
        condition=expectation.condition.code,
        when=write_conditions([expectation.condition]),
        to=expectation.policy.route,
        severity=expectation.policy.severity.value,
        state="ok" if known is None else known.state,
        since=None if known is None else format_optional_time(known.since),
        next_check_at=None if known is None else format_optional_time(known.next_check_at),
        incident_id=None if incident_id is None else identifiers.format_id("inc", incident_id),
    )
