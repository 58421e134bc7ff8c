"""Makes jobs that a request asks for: written, noted down, answered. Room: api.

The operations are resources/jobs.py; the rules are flow/submit.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final

from rota.api import alike, identifiers
from rota.api.call import Call
from rota.api.drafts import spec_of
from rota.api.gathered import note_alike, note_made
from rota.api.shapes.jobs import JobDraft, JobMade
from rota.api.shapes.pieces import moment_or_none
from rota.core.binding import MARK, names_in
from rota.core.submission import JobSpec, after, canonical
from rota.core.time.calendars import Calendar
from rota.flow.submit import alike as short_way
from rota.flow.submit import submitting
from rota.flow.submit.submitting import Submitted
from rota.store import calendars, hints, sealed

# The longest that a scheduler reads ahead.
NEAR: Final = timedelta(minutes=1)


async def make(call: Call, drafts: Sequence[JobDraft]) -> list[JobMade]:
    """Make all of these jobs or none."""
    known = await calendars.read_all(call.conn, tenant_id=call.tenant_id)
    made = await _make_alike(call, drafts, known)
    return await _make_any(call, drafts, known) if made is None else made


async def _make_alike(
    call: Call, drafts: Sequence[JobDraft], known: Mapping[str, Calendar]
) -> list[JobMade] | None:
    """The short way for jobs that have most in common; None if the long one must be gone."""
    with after(()):
        given = alike.alike(drafts, tenant=call.principal.tenant)
    if given is None:
        return None
    now = call.now
    drafted = short_way.draft(given, now=now, new_id=call.service.new_id, calendars=known)
    if drafted is None:
        return None
    made = await short_way.submit(call.conn, drafted, now=now, calendars=known)
    await note_alike(call, made, drafted.each.names)
    call.hints |= hints_of(call, made)
    served = await call.service.served.kinds(call.service.pool)
    warnings = _warnings(given.spec.kind, served, ())
    return [
        JobMade(
            job_id=identifiers.job(each.job_id),
            run_id=None,
            deduplicated=False,
            next_run_at=moment_or_none(each.first_tick),
            name=name,
            status="active",
            warnings=warnings,
        )
        for each, name in zip(made, drafted.each.names, strict=True)
    ]


async def _make_any(
    call: Call, drafts: Sequence[JobDraft], known: Mapping[str, Calendar]
) -> list[JobMade]:
    specs: list[JobSpec] = []
    with after(specs):
        for draft in drafts:
            specs.append(asked(call, draft))  # noqa: PERF401 — its length tells the place
    made = await submitting.submit(
        call.conn, specs, now=call.now, new_id=call.service.new_id, calendars=known
    )
    await note_made(call.conn, [(call, spec) for spec in specs], made)
    call.hints |= hints_of(call, made)
    call.made(each.run_id for each in made)
    served = await call.service.served.kinds(call.service.pool)
    lacking = await _lacking(call, specs)
    return [
        made_of(each, spec, served, without)
        for each, spec, without in zip(made, specs, lacking, strict=True)
    ]


async def _lacking(call: Call, specs: Sequence[JobSpec]) -> list[set[str]]:
    """The secrets that each job names and that are not there; it is asked only if one names any."""
    named = [_secrets_of(spec) for spec in specs]
    wanted = set[str]().union(*named)
    if not wanted:
        return named
    unknown = await sealed.unknown(call.conn, tenant_id=call.tenant_id, names=wanted)
    return [names.intersection(unknown) for names in named]


def _secrets_of(spec: JobSpec) -> set[str]:
    said = [spec.payload, spec.graph]
    return names_in(said) if MARK in canonical(said) else set()


def asked(call: Call, draft: JobDraft) -> JobSpec:
    """The job that a draft asks for."""
    return spec_of(
        draft,
        tenant=call.principal.tenant,
        suffix=lambda: call.service.random_bytes(4).hex(),
    )


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
    each: Submitted, spec: JobSpec, served: frozenset[str], lacking: Iterable[str] = ()
) -> JobMade:
    """The answer to who asked for it."""
    return JobMade(
        job_id=identifiers.job(each.job_id),
        run_id=None if each.run_id is None else identifiers.run(each.run_id),
        deduplicated=each.deduplicated,
        next_run_at=moment_or_none(each.first_tick),
        name=spec.name,
        status="active" if each.run_id is None else "pending",
        warnings=_warnings(spec.kind, served, lacking),
    )


def _warnings(kind: str, served: frozenset[str], lacking: Iterable[str]) -> list[str]:
    told = [
        f"there is no secret {each!r}; its runs fail until there is" for each in sorted(lacking)
    ]
    if kind not in served:
        told.append(f"no live worker serves the kind {kind!r}; its runs wait until one does")
    return told
