"""Makes jobs that a request asks for: written, noted down, answered. Room: api.

The operations are resources/jobs.py; the rules are flow/submit.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from rota.api import identifiers
from rota.api.call import Call
from rota.api.drafts import spec_of
from rota.api.gathered import note_made
from rota.api.shapes.jobs import JobDraft, JobMade
from rota.api.shapes.pieces import moment_or_none
from rota.contract.job_values import details_of
from rota.contract.variants import columns_of, variants_of
from rota.core.binding import MARK, names_in
from rota.core.kind_remedies import ServedKinds, warn_unknown_fields
from rota.core.submission import JobSpec, SpecVariant
from rota.core.time.calendars import Calendar
from rota.core.time.planning import NO_CALENDARS
from rota.flow.submit import submitting
from rota.flow.submit.bulk_submissions import draft_bulk, submit_bulk
from rota.flow.submit.drafting import Draft, Drafting, Origin
from rota.flow.submit.submitting import Submitted
from rota.store import calendars, hints, sealed

# The longest that a scheduler reads ahead.
NEAR: Final = timedelta(minutes=1)


async def make(
    call: Call, drafts: Sequence[JobDraft], *, only_definitions: bool = False
) -> list[JobMade]:
    """Make all of these jobs and submissions or none. With `only_definitions` each becomes a job,
    which is found by its name.
    """
    if not only_definitions:
        made_in_bulk = await _make_bulk(call, drafts)
        if made_in_bulk is not None:
            return made_in_bulk
    asked_for = variants_of(drafts, tenant=call.principal.tenant)
    known = await _calendars(call, asked_for)
    drafting = Drafting(call.now, known, origin=origin_of(call), only_definitions=only_definitions)
    found_good = await submitting.draft_all(drafting, asked_for, call.service.new_id)
    made = await submitting.submit_drafts(call.conn, found_good, now=call.now, calendars=known)
    await note_made(call.conn, [(call, each.display_name) for each in asked_for], made)
    call.hints |= hints_of(call, made)
    call.made(each.run_id for each in made)
    served = await call.service.served.kinds(call.service.pool, call.principal.tenant)
    lacking = await _lacking(call, found_good)
    unserved: dict[str, list[str]] = {}
    return [
        JobMade(
            job_id=identifiers.job(each.job_id),
            run_id=None if each.run_id is None else identifiers.run(each.run_id),
            deduplicated=each.deduplicated,
            next_run_at=moment_or_none(each.first_tick),
            name=draft.name or draft.spec.kind,
            status="active" if each.run_id is None else "pending",
            warnings=(
                _warnings(draft.spec.kind, draft.payload, served, lacking.get(place, ()))
                if place in lacking or served.get(draft.spec.kind) is not None
                else _unserved(unserved, draft.spec.kind, served)
            )
            + _warn_unstored(draft.spec, is_submission=draft.is_submission),
        )
        for place, (each, draft) in enumerate(zip(made, found_good, strict=True))
    ]


async def _make_bulk(call: Call, drafts: Sequence[JobDraft]) -> list[JobMade] | None:
    """Make submissions that differ in a few fields only; None if they differ in more."""
    columns = columns_of(drafts, tenant=call.principal.tenant)
    if columns is None:
        return None
    drafting = Drafting(call.now, NO_CALENDARS, origin=origin_of(call))
    bulk = draft_bulk(drafting, columns, call.service.new_id)
    if bulk is None:
        return None
    await submit_bulk(call.conn, bulk, now=call.now)
    spec, is_immediate = bulk.first.spec, bulk.is_immediate
    if is_immediate:
        call.hints.add(hints.RUNS)
        call.made(map(UUID, bulk.ids))
    elif min(bulk.due_ats) <= call.now + NEAR:
        call.hints.add(hints.JOBS)
    served = await call.service.served.kinds(call.service.pool, call.principal.tenant)
    unstored = _warn_unstored(spec, is_submission=True)
    shared = _warnings(spec.kind, None, served, ()) + unstored
    has_fields = served.get(spec.kind) is not None
    return [
        JobMade(
            job_id=f"job_{id_}",
            run_id=f"run_{id_}" if is_immediate else None,
            deduplicated=False,
            next_run_at=None if is_immediate else moment_or_none(due_at),
            name=name or spec.kind,
            status="pending" if is_immediate else "active",
            warnings=_warnings(spec.kind, payload, served, ()) + unstored if has_fields else shared,
        )
        for id_, name, payload, due_at in zip(
            bulk.ids, bulk.names, bulk.payloads, bulk.due_ats, strict=True
        )
    ]


async def _calendars(call: Call, asked_for: Sequence[SpecVariant]) -> Mapping[str, Calendar]:
    """The calendars of the tenant, if a schedule goes by any."""
    if not any(each.spec.schedule and "calendars" in each.spec.schedule for each in asked_for):
        return NO_CALENDARS
    return await calendars.read_all(call.conn, tenant_id=call.tenant_id)


async def _lacking(call: Call, drafts: Sequence[Draft]) -> dict[int, set[str]]:
    """The secrets that are named and not there, by the place of who names them. It is asked only
    if one names any.
    """
    named = {
        place: names_in([draft.payload, draft.spec.graph])
        for place, draft in enumerate(drafts)
        if (draft.payload_text and MARK in draft.payload_text)
        or (draft.graph_text and MARK in draft.graph_text)
    }
    if not named:
        return {}
    wanted = set[str]().union(*named.values())
    unknown = await sealed.unknown(call.conn, tenant_id=call.tenant_id, names=wanted)
    return {place: names.intersection(unknown) for place, names in named.items()}


def _unserved(known: dict[str, list[str]], kind: str, served: ServedKinds) -> list[str]:
    """The warnings that all of a kind have."""
    if kind not in known:
        known[kind] = _warnings(kind, None, served, ())
    return known[kind]


def asked(call: Call, draft: JobDraft) -> JobSpec:
    """The job or submission that a draft asks for."""
    return spec_of(draft, tenant=call.principal.tenant)


def origin_of(call: Call) -> Origin:
    return Origin(call.actor, call.address)


def hints_of(call: Call, made: Sequence[Submitted]) -> set[str]:
    """Whom it concerns now: a tick that is far away is found in time without a hint."""
    soon = call.now + NEAR
    found = set()
    if any(each.run_id is not None for each in made):
        found.add(hints.RUNS)
    if any(each.first_tick is not None and each.first_tick <= soon for each in made):
        found.add(hints.JOBS)
    return found


def made_of(
    each: Submitted, spec: JobSpec, served: ServedKinds, lacking: Iterable[str] = ()
) -> JobMade:
    """The answer to who asked for it."""
    return JobMade(
        job_id=identifiers.job(each.job_id),
        run_id=None if each.run_id is None else identifiers.run(each.run_id),
        deduplicated=each.deduplicated,
        next_run_at=moment_or_none(each.first_tick),
        name=spec.display_name,
        status="active" if each.run_id is None else "pending",
        warnings=[
            *_warnings(spec.kind, spec.payload, served, lacking),
            *_warn_unstored(spec, is_submission=each.is_submission),
        ],
    )


def _warn_unstored(spec: JobSpec, *, is_submission: bool) -> list[str]:
    """Say which fields a submission does not keep; a definition keeps all."""
    return [
        f"{name} is not stored: a one-time submission has none; use labels"
        for name in (details_of(spec) if is_submission else ())
    ]


def _warnings(kind: str, payload: object, served: ServedKinds, lacking: Iterable[str]) -> list[str]:
    told = [
        f"there is no secret {each!r}; its runs fail until there is" for each in sorted(lacking)
    ]
    if kind not in served:
        told.append(f"no live worker serves the kind {kind!r}; its runs wait until one does")
    return told + warn_unknown_fields(kind, payload, served)
