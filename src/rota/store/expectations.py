"""Stores rules, and reads the expectations of jobs.

A rule that only newer code reads is left out of what this process checks; it stays stored.
"""

import json
import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple
from uuid import UUID

from rota.contract.expectation_values import (
    name_job_expectations,
    read_stored_conditions,
    read_stored_policy,
    read_stored_selector,
    write_conditions,
    write_policy,
    write_selector,
)
from rota.contract.expectations import RULES_PER_TENANT_MAX
from rota.core.alerts.conditions import Condition, Expectation, SubjectSelector
from rota.core.alerts.finding import AlertPolicy
from rota.core.alerts.rules import NewRule
from rota.core.errors import (
    InvalidInput,
    NameTaken,
    NotFound,
    QuotaExceeded,
    StoreFailed,
    VersionChanged,
)
from rota.core.submissions import encode_canonical
from rota.store import tenant_locks
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.transaction import join_transaction

TAKEN_SQLSTATE: Final = "23505"
DOCUMENTS_CACHED_MAX: Final = 1_000
RULE_NAME_TAKEN: Final = "already in use; choose a name that no other rule of the tenant has"


class RuleRow(NamedTuple):
    """A stored rule. The documents are JSON texts."""

    id: UUID
    tenant_id: int
    name: str
    selector: str
    condition: str
    policy: str
    is_enabled: bool
    version: int
    project: str | None
    created_at: datetime
    updated_at: datetime


class RuleCount(NamedTuple):
    number: int


class JobExpectRow(NamedTuple):
    id: UUID
    tenant_id: int
    name: str
    expect: str
    alert: str | None


class MatchedJob(NamedTuple):
    """A job that a selector matches. `schedule` and `graph` are JSON texts."""

    id: UUID
    name: str
    schedule: str | None
    graph: str | None


class ExpectationState(NamedTuple):
    """What evaluations know about one expectation of one subject. `since` is None before the first
    check.
    """

    expectation_id: UUID
    subject_key: str
    state: str
    since: datetime | None
    next_check_at: datetime | None
    incident_id: UUID | None


READ_ALL = statement("expectations/read_all", RuleRow)
PAGE = statement("expectations/page", RuleRow)
GET = statement("expectations/get", RuleRow)
FIND = statement("expectations/find", RuleRow)
OF_PROJECT = statement("expectations/of_project", RuleRow)
COUNT = statement("expectations/count", RuleCount)
CREATE = statement("expectations/create", RuleRow)
REPLACE = statement("expectations/replace", RuleRow)
DELETE = statement("expectations/delete", RuleRow)
READ_OF_JOBS = statement("expectations/read_of_jobs", JobExpectRow)
MATCHING_JOBS = statement("expectations/matching_jobs", MatchedJob)
STATES = statement("expectations/states", ExpectationState)


async def read_expectations(conn: Connection, *, tenant_id: int | None = None) -> list[Expectation]:
    """Return the rules of a tenant; None: of all tenants. Disabled rules are left out."""
    rows = await READ_ALL.all(conn, tenant_id=tenant_id)
    found = (to_expectation(row) for row in rows if row.is_enabled)
    return [expectation for expectation in found if expectation is not None]


async def read_job_expectations(
    conn: Connection, job_ids: Sequence[UUID]
) -> dict[UUID, list[Expectation]]:
    """Return the expectations in the `expect` of jobs; jobs without any are left out."""
    rows = await READ_OF_JOBS.all(conn, ids=list(job_ids))
    return {row.id: read_expect(row) for row in rows}


def read_expect(row: JobExpectRow) -> list[Expectation]:
    """Return the expectations of a job; none if only newer code reads them."""
    try:
        conditions, policy = _read_documents(row.expect, row.alert)
    except InvalidInput:
        return []
    return name_job_expectations(
        conditions, policy, job_id=row.id, tenant_id=row.tenant_id, job_name=row.name
    )


# Cached, because many jobs have equal documents.
@lru_cache(maxsize=DOCUMENTS_CACHED_MAX)
def _read_documents(expect: str, alert: str | None) -> tuple[tuple[Condition, ...], AlertPolicy]:
    """Read the conditions of a job and how their violations are reported."""
    policy = read_stored_policy(None if alert is None else json.loads(alert))
    return read_stored_conditions(json.loads(expect)), policy


def to_expectation(row: RuleRow) -> Expectation | None:
    """Return a stored rule as core's value; None if only newer code reads it."""
    try:
        conditions = read_stored_conditions(json.loads(row.condition))
        if len(conditions) != 1:
            return None
        return Expectation(
            id=row.id,
            tenant_id=row.tenant_id,
            name=row.name,
            condition=conditions[0],
            selector=read_stored_selector(json.loads(row.selector)),
            policy=read_stored_policy(json.loads(row.policy)),
            is_enabled=row.is_enabled,
        )
    except InvalidInput:
        return None


async def find_matching_jobs(
    conn: Connection,
    selector: SubjectSelector,
    *,
    tenant_id: int,
    limit: int,
    with_ticks: bool = False,
) -> list[MatchedJob]:
    """Return jobs that a selector matches; with `step`, the graphs that may have such steps."""
    return await MATCHING_JOBS.all(
        conn,
        tenant_id=tenant_id,
        job=_to_like(selector.job),
        task=None if selector.step is not None else _to_like(selector.task),
        queue=None if selector.step is not None else _to_like(selector.queue),
        labels=encode_canonical(dict(selector.labels)),
        with_graph=selector.step is not None,
        with_ticks=with_ticks,
        most=limit,
    )


def _to_like(pattern: str | None) -> str | None:
    """Return a pattern with `*` as a pattern of `like`."""
    if pattern is None:
        return None
    return re.sub(r"([\\%_])", r"\\\1", pattern).replace("*", "%")


async def read_states(
    conn: Connection, keys: Sequence[tuple[UUID, str]], *, tenant_id: int
) -> dict[tuple[UUID, str], ExpectationState]:
    """Return what is known about expectations, each given with the key of its subject."""
    rows = await STATES.all(
        conn,
        tenant_id=tenant_id,
        expectation_ids=[expectation_id for expectation_id, _ in keys],
        subject_keys=[subject_key for _, subject_key in keys],
    )
    return {(row.expectation_id, row.subject_key): row for row in rows}


async def list_rules(
    conn: Connection, *, tenant_id: int, after: str = "", limit: int = 50
) -> list[RuleRow]:
    """Return rules by name, starting after `after`."""
    return await PAGE.all(conn, tenant_id=tenant_id, after=after, most=limit)


async def get_rule(conn: Connection, rule_id: UUID, *, tenant_id: int) -> RuleRow:
    row = await GET.one(conn, id=rule_id, tenant_id=tenant_id)
    if row is None:
        raise NotFound("expectation", str(rule_id))
    return row


async def find_rules(
    conn: Connection, *, tenant_id: int, names: Sequence[str]
) -> dict[str, RuleRow]:
    """Return the rules that have these names."""
    rows = await FIND.all(conn, tenant_id=tenant_id, names=list(names))
    return {row.name: row for row in rows}


async def read_project_rules(
    conn: Connection, *, tenant_id: int, project: str
) -> dict[str, RuleRow]:
    """Return the rules that the file of a project declares, by name."""
    rows = await OF_PROJECT.all(conn, tenant_id=tenant_id, project=project)
    return {row.name: row for row in rows}


async def create_rule(conn: Connection, rule_id: UUID, new: NewRule) -> RuleRow:
    async with join_transaction(conn):
        await tenant_locks.lock_resource(conn, tenant_id=new.tenant_id, resource="expectations")
        count = await COUNT.one(conn, tenant_id=new.tenant_id)
        if count is not None and count.number >= RULES_PER_TENANT_MAX:
            reason = f"it has {count.number} rules; delete one before adding another"
            raise QuotaExceeded("rules", RULES_PER_TENANT_MAX, reason)
        row = await CREATE.one(conn, id=rule_id, **_write_values(new))
    if row is None:
        raise NameTaken("name", new.name, RULE_NAME_TAKEN)
    return row


async def replace_rule(conn: Connection, rule_id: UUID, new: NewRule, *, version: int) -> RuleRow:
    """Replace a rule. Raises `VersionChanged` if it no longer has this version."""
    try:
        row = await REPLACE.one(conn, id=rule_id, version=version, **_write_values(new))
    except StoreFailed as error:
        if error.sqlstate != TAKEN_SQLSTATE:
            raise
        raise NameTaken("name", new.name, RULE_NAME_TAKEN) from None
    if row is None:
        current = await get_rule(conn, rule_id, tenant_id=new.tenant_id)
        raise VersionChanged("expectation", wanted=version, found=current.version)
    return row


async def delete_rule(conn: Connection, rule_id: UUID, *, tenant_id: int) -> RuleRow:
    row = await DELETE.one(conn, id=rule_id, tenant_id=tenant_id)
    if row is None:
        raise NotFound("expectation", str(rule_id))
    return row


def _write_values(new: NewRule) -> dict[str, object]:
    return {
        "tenant_id": new.tenant_id,
        "name": new.name,
        "selector": encode_canonical(write_selector(new.selector)),
        "condition": encode_canonical(write_conditions([new.condition])),
        "policy": encode_canonical(write_policy(new.policy)),
        "is_enabled": new.is_enabled,
        "project": new.project,
    }
