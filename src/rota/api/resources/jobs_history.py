"""Lists the changes of a job: author, origin and changed fields.

These are the entries of the audit log, without addresses and keys, for everyone who may see the
job.
"""

from collections.abc import Iterator
from typing import Any, Final

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import ListPage, read_cursor, read_number, write_cursor
from rota.api.resources.endpoint_steps import read_job_row
from rota.api.schemas.field_types import format_time
from rota.api.schemas.job_history import ChangedFieldView, JobChangeView
from rota.api.schemas.runs import PageQuery
from rota.api.views import load_json
from rota.core.access import Permission
from rota.core.manifest.differences import find_differences
from rota.store import audit
from rota.store.audit import AuditEntry, AuditFilter

JOB_ACTIONS: Final = ("job.create", "job.update", "job.pause", "job.resume", "job.delete")


@operation(
    "GET",
    "/v1/jobs/{job_id}/history",
    tag="jobs",
    permission=Permission.READ,
    query=PageQuery,
    answer=ListPage[JobChangeView],
    problems=("malformed_request",),
)
async def list_job_changes(call: Call) -> Reply:
    """List the changes of a job, newest first: created, updated, paused, resumed, deleted.

    Each change names its author, its origin and, for an update, the changed fields. The changes of
    a deleted job are kept as long as the audit log.
    """
    job_id = identifiers.parse_id("job_id", call.params["job_id"])
    filters = ["changes of", job_id.hex]
    place = read_cursor(call.query.cursor, filters)
    found = await audit.list_entries(
        call.conn,
        tenant_id=call.tenant_id,
        filter=AuditFilter(
            thing="job", thing_id=identifiers.format_job_id(job_id), actions=JOB_ACTIONS
        ),
        after=None if place is None else read_number(place),
        limit=call.query.limit + 1,
    )
    if not found:
        await read_job_row(call)  # a job may exist without an entry
    data = found[: call.query.limit]
    more = write_cursor(filters, [str(data[-1].id)]) if len(found) > call.query.limit else None
    return Reply(
        ListPage[JobChangeView](data=[build_change_view(entry) for entry in data], next_cursor=more)
    )


def build_change_view(entry: AuditEntry) -> JobChangeView:
    after = load_json(entry.after)
    values: dict[str, Any] = dict(after) if isinstance(after, dict) else {}
    changed = values.pop("changed", [])
    version = values.pop("version", None)
    before = load_json(entry.before) or {}
    return JobChangeView(
        id=entry.id,
        at=format_time(entry.at),
        author=entry.actor,
        origin=entry.origin,
        action=entry.action,
        version=version if isinstance(version, int) else None,
        changes=list(list_changed_fields(changed, before, values)),
        details={name: value for name, value in values.items() if name not in changed},
    )


def list_changed_fields(
    changed: list[str], before: dict[str, Any], after: dict[str, Any]
) -> Iterator[ChangedFieldView]:
    """Yield the changed fields; of an object only the parts that differ."""
    for name in changed:
        if name not in after:
            yield ChangedFieldView(field=name, before=None, after=None, is_shown=False)
            continue
        for change in find_differences(before.get(name), after[name], name):
            yield ChangedFieldView(
                field=change.field, before=change.before, after=change.after, is_shown=True
            )
