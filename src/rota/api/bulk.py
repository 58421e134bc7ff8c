"""Calls on many runs at once: the filter, and the token of a dry run. Room: api."""

from rota.api import identifiers
from rota.api.call import Reply
from rota.api.resources.shared import instant
from rota.api.shapes.runs import BulkDone, BulkDraft
from rota.core import bulk
from rota.core.errors import InvalidInput
from rota.flow.submit.bulk import Counted, Done


def bulk_filter(draft: BulkDraft) -> bulk.RunFilter:
    said = draft.filter
    return bulk.RunFilter(
        job_id=None if said.job_id is None else identifiers.read("job_id", said.job_id),
        kind=said.kind,
        queue=said.queue,
        error=said.error,
        fingerprint=said.fingerprint,
        since=instant(said.since, "filter.since"),
        until=instant(said.until, "filter.until"),
    )


def needed(token: str | None) -> str:
    if token is None:
        raise InvalidInput("token", None, "the token of a dry run with the same filter")
    return token


def counted_reply(counted: Counted) -> Reply:
    return Reply(BulkDone(matched=counted.found, done=0, token=counted.token))


def done_reply(done: Done) -> Reply:
    matched = len(done.ids) + done.left
    return Reply(BulkDone(matched=matched, done=len(done.ids), token=done.token))
