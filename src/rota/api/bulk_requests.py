"""Converts bulk requests and their results: the filter, and the token of a dry run."""

from rota.api import identifiers
from rota.api.call import Reply
from rota.api.resources.endpoint_steps import parse_instant
from rota.api.schemas.runs import BulkActionResult, BulkDraft
from rota.core import bulk_operations
from rota.core.errors import InvalidInput
from rota.engine.submission.bulk_actions import BulkCount, BulkResult


def build_run_filter(draft: BulkDraft) -> bulk_operations.BulkRunFilter:
    fields = draft.filter
    return bulk_operations.BulkRunFilter(
        job_id=None if fields.job_id is None else identifiers.parse_id("job_id", fields.job_id),
        kind=fields.kind,
        queue=fields.queue,
        error=fields.error,
        fingerprint=fields.fingerprint,
        since=parse_instant(fields.since, "filter.since"),
        until=parse_instant(fields.until, "filter.until"),
    )


def require_token(token: str | None) -> str:
    if token is None:
        raise InvalidInput(
            "token", None, "required; send the token of a dry run with the same filter"
        )
    return token


def build_count_reply(counted: BulkCount) -> Reply:
    return Reply(BulkActionResult(matched=counted.found, done=0, token=counted.token))


def build_done_reply(done: BulkResult) -> Reply:
    matched = len(done.ids) + done.left
    return Reply(BulkActionResult(matched=matched, done=len(done.ids), token=done.token))
