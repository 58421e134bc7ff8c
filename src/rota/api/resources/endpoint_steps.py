"""Steps that several endpoints share: read the job in the path, check its version, write an audit
entry.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

from rota.api import identifiers
from rota.api.call import Call
from rota.api.problems import ProblemError
from rota.core.errors import InvalidInput, NotFound
from rota.core.time import moments
from rota.store import audit, job_views, submission_views
from rota.store.audit import NewAuditEntry
from rota.store.job_views import JobRow

_ETAG: Final = re.compile(r'(?:W/)?"(\d{1,9})"')


async def read_job_row(call: Call) -> JobRow:
    """Read the job in the path, of the caller's tenant; a one-time submission counts as a job."""
    job_id = identifiers.parse_id("job_id", call.params["job_id"])
    row = await job_views.get_job(call.conn, tenant_id=call.tenant_id, job_id=job_id)
    if row is None:
        row = await submission_views.get_submission(
            call.conn, tenant_id=call.tenant_id, job_id=job_id
        )
    if row is None:
        raise NotFound("job", call.params["job_id"])
    return row


async def write_audit_entry(
    call: Call,
    action: str,
    thing: str,
    thing_id: str,
    after: Mapping[str, Any] | None = None,
    before: Mapping[str, Any] | None = None,
) -> None:
    """Write an audit entry in the transaction of the change."""
    principal = call.principal
    await audit.record_change(
        call.conn,
        NewAuditEntry(
            tenant_id=principal.tenant_id,
            actor=call.actor,
            key_id=principal.key_id,
            source=call.address,
            action=action,
            thing=thing,
            thing_id=thing_id,
            before=before,
            after=after,
            request_id=call.request_id,
            origin=call.origin,
        ),
    )


def read_expected_version(call: Call) -> int | None:
    """Return the version in If-Match; None accepts any version."""
    header = call.headers.get("if-match")
    if header is None or header.strip() == "*":
        return None
    match = _ETAG.fullmatch(header.strip())
    if match is None:
        raise ProblemError(
            "version_changed", "If-Match is not an ETag of this object; get it again"
        )
    return int(match[1])


def parse_instant(text: str | None, field: str) -> datetime | None:
    return None if text is None else moments.parse(text, field=field)


@contextmanager
def single_job_errors() -> Iterator[None]:
    """Drop the list index from the error of a request with a single job."""
    try:
        yield
    except InvalidInput as error:
        error.field = error.field.removeprefix("jobs[0].")
        raise
