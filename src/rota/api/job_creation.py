"""Creates the jobs of a request: writes them, audits them and builds the response.

The operations are in resources/jobs.py, the rules in submission.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from rota.api import identifiers
from rota.api.batched_writes import audit_created_jobs
from rota.api.call import Call
from rota.api.job_edits import build_spec
from rota.api.schemas.field_types import format_optional_time
from rota.api.schemas.jobs import CreatedJob, JobDraft
from rota.contract.bulk_drafts import build_columns, build_variants
from rota.contract.job_values import read_details
from rota.core.kind_remedies import ServedKinds, warn_unknown_fields
from rota.core.secret_references import REFERENCE_START, find_secret_names
from rota.core.submissions import JobSpec, SpecVariant
from rota.core.time.calendars import Calendar
from rota.core.time.planning import NO_CALENDARS
from rota.engine.submission import job_submission
from rota.engine.submission.bulk_submissions import draft_bulk, submit_bulk
from rota.engine.submission.drafts import CheckedJob, Drafter, SubmissionOrigin
from rota.engine.submission.job_submission import SubmittedJob
from rota.store import calendars, encrypted_secrets, hints

# The maximum look-ahead of a scheduler.
LOOK_AHEAD_MAX: Final = timedelta(minutes=1)
RULE_REMEDY: Final = "create a rule for its task"
UNSTORED_REMEDIES: Final = {"expect": RULE_REMEDY, "alert": RULE_REMEDY}


async def create_jobs(
    call: Call, drafts: Sequence[JobDraft], *, only_definitions: bool = False
) -> list[CreatedJob]:
    """Create all of these jobs and submissions, or none. With `only_definitions` each becomes a
    named job.
    """
    if not only_definitions:
        bulk_result = await _make_bulk(call, drafts)
        if bulk_result is not None:
            return bulk_result
    variants = build_variants(drafts, tenant=call.principal.tenant)
    known = await _read_calendars(call, variants)
    drafting = Drafter(
        call.now, known, origin=build_origin(call), only_definitions=only_definitions
    )
    valid_drafts = await job_submission.draft_all(drafting, variants, call.service.new_id)
    submitted = await job_submission.submit_drafts(
        call.conn, valid_drafts, now=call.now, calendars=known
    )
    await audit_created_jobs(
        call.conn, [(call, variant.display_name) for variant in variants], submitted
    )
    call.hints |= select_hints(call, submitted)
    call.link_runs(result.run_id for result in submitted)
    served = await call.service.served_kinds.read_kinds(call.service.pool, call.principal.tenant)
    lacking = await _find_missing_secrets(call, valid_drafts)
    unserved: dict[str, list[str]] = {}
    return [
        CreatedJob(
            job_id=identifiers.format_job_id(result.job_id),
            run_id=None if result.run_id is None else identifiers.format_run_id(result.run_id),
            deduplicated=result.is_deduplicated,
            next_run_at=format_optional_time(result.first_tick),
            name=draft.name or draft.spec.kind,
            status="active" if result.run_id is None else "pending",
            warnings=(
                _warnings(draft.spec.kind, draft.payload, served, lacking.get(index, ()))
                if index in lacking or served.get(draft.spec.kind) is not None
                else _warn_unserved(unserved, draft.spec.kind, served)
            )
            + _warn_unstored(draft.spec, is_submission=draft.is_submission)
            + list(draft.warnings),
        )
        for index, (result, draft) in enumerate(zip(submitted, valid_drafts, strict=True))
    ]


async def _make_bulk(call: Call, drafts: Sequence[JobDraft]) -> list[CreatedJob] | None:
    """Create submissions that differ in a few fields only; return None if they differ in more."""
    columns = build_columns(drafts, tenant=call.principal.tenant)
    if columns is None:
        return None
    drafting = Drafter(call.now, NO_CALENDARS, origin=build_origin(call))
    bulk = draft_bulk(drafting, columns, call.service.new_id)
    if bulk is None:
        return None
    await submit_bulk(call.conn, bulk, now=call.now)
    spec, is_immediate = bulk.first.spec, bulk.is_immediate
    if is_immediate:
        call.hints.add(hints.RUNS_CHANNEL)
        call.link_runs(map(UUID, bulk.ids))
    elif min(bulk.due_ats) <= call.now + LOOK_AHEAD_MAX:
        call.hints.add(hints.JOBS_CHANNEL)
    served = await call.service.served_kinds.read_kinds(call.service.pool, call.principal.tenant)
    unstored = _warn_unstored(spec, is_submission=True)
    shared = _warnings(spec.kind, None, served, ()) + unstored
    has_fields = served.get(spec.kind) is not None
    return [
        CreatedJob(
            job_id=f"job_{id_}",
            run_id=f"run_{id_}" if is_immediate else None,
            deduplicated=False,
            next_run_at=None if is_immediate else format_optional_time(due_at),
            name=name or spec.kind,
            status="pending" if is_immediate else "active",
            warnings=_warnings(spec.kind, payload, served, ()) + unstored if has_fields else shared,
        )
        for id_, name, payload, due_at in zip(
            bulk.ids, bulk.names, bulk.payloads, bulk.due_ats, strict=True
        )
    ]


async def _read_calendars(call: Call, variants: Sequence[SpecVariant]) -> Mapping[str, Calendar]:
    """Read the tenant's calendars, if a schedule refers to any."""
    if not any(
        variant.spec.schedule and "calendars" in variant.spec.schedule for variant in variants
    ):
        return NO_CALENDARS
    return await calendars.read_calendars(call.conn, tenant_id=call.tenant_id)


async def _find_missing_secrets(call: Call, drafts: Sequence[CheckedJob]) -> dict[int, set[str]]:
    """Return missing secrets by the index of the draft that refers to them. Queries the database
    only if a draft refers to a secret.
    """
    named = {
        index: find_secret_names([draft.payload, draft.spec.graph])
        for index, draft in enumerate(drafts)
        if (draft.payload_text and REFERENCE_START in draft.payload_text)
        or (draft.graph_text and REFERENCE_START in draft.graph_text)
    }
    if not named:
        return {}
    wanted = set[str]().union(*named.values())
    unknown = await encrypted_secrets.find_unknown_names(
        call.conn, tenant_id=call.tenant_id, names=wanted
    )
    return {index: names.intersection(unknown) for index, names in named.items()}


def _warn_unserved(known: dict[str, list[str]], kind: str, served: ServedKinds) -> list[str]:
    """Return the warnings that all jobs of a kind share."""
    if kind not in known:
        known[kind] = _warnings(kind, None, served, ())
    return known[kind]


def build_spec_for_caller(call: Call, draft: JobDraft) -> JobSpec:
    """Build the specification of a drafted job or submission."""
    return build_spec(draft, tenant=call.principal.tenant)


def build_origin(call: Call) -> SubmissionOrigin:
    return SubmissionOrigin(call.actor, call.address)


def select_hints(call: Call, submitted: Sequence[SubmittedJob]) -> set[str]:
    """Return the hints to send now; a distant tick is found in time without one."""
    soon = call.now + LOOK_AHEAD_MAX
    found = set()
    if any(result.run_id is not None for result in submitted):
        found.add(hints.RUNS_CHANNEL)
    if any(result.first_tick is not None and result.first_tick <= soon for result in submitted):
        found.add(hints.JOBS_CHANNEL)
    return found


def build_created_job(
    submitted: SubmittedJob, spec: JobSpec, served: ServedKinds, missing_secrets: Iterable[str] = ()
) -> CreatedJob:
    """Build the response for one created job."""
    return CreatedJob(
        job_id=identifiers.format_job_id(submitted.job_id),
        run_id=None if submitted.run_id is None else identifiers.format_run_id(submitted.run_id),
        deduplicated=submitted.is_deduplicated,
        next_run_at=format_optional_time(submitted.first_tick),
        name=spec.display_name,
        status="active" if submitted.run_id is None else "pending",
        warnings=[
            *_warnings(spec.kind, spec.payload, served, missing_secrets),
            *_warn_unstored(spec, is_submission=submitted.is_submission),
        ],
    )


def _warn_unstored(spec: JobSpec, *, is_submission: bool) -> list[str]:
    """Warn about fields that a submission does not store; a definition stores all."""
    warning = "{name} is not stored for a one-time submission; {remedy}"
    return [
        warning.format(name=name, remedy=UNSTORED_REMEDIES.get(name, "use labels"))
        for name in (read_details(spec) if is_submission else ())
    ]


def _warnings(kind: str, payload: object, served: ServedKinds, lacking: Iterable[str]) -> list[str]:
    warnings = [
        f"secret {name!r} does not exist; runs fail until it is created" for name in sorted(lacking)
    ]
    if kind not in served:
        warnings.append(f"no live worker serves the kind {kind!r}; its runs wait until one does")
    return warnings + warn_unknown_fields(kind, payload, served)
