"""The reference page of the API, made from the catalogue. Room: api.

Paths, permissions, parameters and fields come from the operations and their shapes; the answers
were recorded from a real API. What stands at the top of the page is written by hand, beside them in
tools/reference. `tools/generate.py` writes the result to docs/reference/api.md, and a test carries
out every example of the page.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from rota.api import fields
from rota.api.openapi import codes_of
from rota.api.operations import Operation
from rota.core.access import PERMITTED, Permission, Role

HEAD: Final = "<!-- Generated from src/rota/api by `make generate`; do not edit. -->\n"
# In which order the page tells of things, and what they are.
TAGS: Final = {
    "jobs": "A job says what to do and when.",
    "schedules": "Schedules before they are saved; [schedules.md](schedules.md) says what they are "
    "made of.",
    "backfills": "Runs for a past range of ticks, made little by little; `POST "
    "/v1/jobs/{job_id}/backfills` begins one.",
    "tasks": "A task is a kind of work that workers serve. Jobs and submissions are runs of tasks. "
    "How to is in [tasks.md](../howto/tasks.md).",
    "jobs as code": "All jobs of a project, as a file declares them; `rota plan` and `rota apply` "
    "ask for these.",
    "runs": "A run is one time that a job is carried out, in one or more attempts. "
    "[states.md](states.md) shows its states.",
    "graphs": "A graph is a job of the kind `graph`, and a run of it unfolds into the runs of its "
    "steps. How to is in [graphs.md](../howto/graphs.md) and [maps.md](../howto/maps.md).",
    "dead letters": "Runs that ended `dead`, `lost` or `quarantined` wait here for somebody.",
    "events": "What happened elsewhere; jobs wait for events by their type. How to is in "
    "[events.md](../howto/events.md).",
    "hooks": "Where somebody without a key hands in events, by signing them.",
    "queues": "Queues are shared by all tenants; one is made when a job or a worker names it.",
    "cluster": "The processes that do the work.",
    "statistics": "Figures of the tenant; [metrics.md](metrics.md) has those of the installation.",
    "feed": "What happens, as it happens; [feed.md](feed.md) lists the events.",
    "calendars": "Days and times at which jobs do not run.",
    "secrets": "Values that jobs use and nobody reads.",
    "keys": "Who may call, and what they may do. Keys of the role `platform` are not seen here; "
    "`POST /v1/tenants/{tenant_id}/keys` makes them.",
    "users": "Whose jobs there are, and on whose behalf keys act.",
    "tenants": "Tenants share an installation and see nothing of each other.",
    "audit": "Who changed what.",
    "service": "The API itself.",
}
# What stands in the path of an example; what is not here comes from an answer before.
PLACES: Final = {
    "queue": "batch",
    "kind": "report",
    "user_id": "u003",
    "file": "page.css",
    "code": "not_found",
}
NAMES: Final = {"jobs": "hourly-sync", "calendars": "holidays", "secrets": "smtp-password"}
RUNS: Final = {
    "get_run": "$ENDED_RUN_ID",
    "list_attempts": "$ENDED_RUN_ID",
    "get_logs": "$ENDED_RUN_ID",
    "replay_run": "$ENDED_RUN_ID",
    "retry_run": "$DEAD_RUN_ID",
    "drop_dead_letter": "$DEAD_RUN_ID",
    "drain_worker": "$SPARE_WORKER_ID",
    "tell_external_run": "$EXTERNAL_RUN_ID",
    "end_external_run": "$EXTERNAL_RUN_ID",
    "get_run_graph": "$GRAPH_RUN_ID",
    "list_members": "$GRAPH_RUN_ID",
    "retry_run_graph": "$DEAD_GRAPH_RUN_ID",
    "pause_run": "$LIVE_GRAPH_RUN_ID",
    "resume_run": "$LIVE_GRAPH_RUN_ID",
}
JOBS: Final = {"get_graph": "$GRAPH_JOB_ID"}
KINDS: Final = {"get_dead_group": "$DEAD_KIND"}
QUERIES: Final = {
    "list_jobs": "status=active&limit=1",
    "delete_job": "running=keep",
    "list_runs": "status=succeeded&status=dead&limit=1",
    "list_executions": "worker_id=$WORKER_ID&limit=1",
    "list_runs_of_job": "limit=1",
    "list_outcomes": "job_id=$JOB_ID&each=1",
    "list_members": "step=each&limit=1",
    "list_dead_letters": "limit=1",
    "get_series": "span=day",
    "list_audit": "thing=job&limit=1",
    "list_keys": "limit=1",
}
# Where the example of the declaration would meet itself: names are taken once.
BODIES: Final[dict[str, Any]] = {
    "create_jobs": {
        "jobs": [
            {"name": "report of the north", "cron_expression": "0 6 * * 1"},
            {"name": "report of the south", "cron_expression": "5 6 * * 1"},
        ]
    },
    "backfill_job": {
        "since": "2025-07-01T00:00:00Z",
        "until": "2025-07-03T00:00:00Z",
        "dry_run": True,
    },
    "create_backfill": {
        "since": "2025-07-01T00:00:00Z",
        "until": "2025-07-03T00:00:00Z",
        "order": "newest",
    },
}
# What an example sends besides: a signature, of which a shell knows nothing.
HEADERS: Final = {
    "call_hook": {
        "webhook-id": "$MESSAGE_ID",
        "webhook-timestamp": "$MESSAGE_TIME",
        "webhook-signature": "$SIGNATURE",
    }
}
# Answers of which a few fields are shown: the page has them all elsewhere, or they are too many.
PARTS: Final = {
    "update_job": ("job_id", "name", "payload", "version", "updated_at"),
    "patch_job": ("job_id", "name", "priority", "version", "updated_at"),
    "put_job": ("job_id", "name", "cron_expression", "next_run_at", "version"),
    "pause_job": ("job_id", "name", "status", "held", "next_run_at", "version"),
    "resume_job": ("job_id", "name", "status", "held", "next_run_at", "version"),
    "get_openapi": ("openapi", "info", "servers", "tags"),
}
WHOLE: Final = {"jobs": "GET /v1/jobs/{job_id}", "service": "GET /docs"}
STREAM: Final = "text/event-stream"
WIDEST: Final = 72


class Recorded(NamedTuple):
    """What a real API answered to the example; `body` is JSON, a text, or None."""

    status: int
    media: str
    body: Any


def reference_markdown(
    introduction: str, operations: Sequence[Operation], answers: Mapping[str, Recorded]
) -> str:
    """The whole page, newline at the end. An operation without an answer shows none."""
    ordered = in_order(operations)
    tags = list(dict.fromkeys(each.tag for each in ordered))
    shown = fields.Shown()
    parts = [HEAD + introduction.rstrip(), *_contents(ordered, tags)]
    for tag in tags:
        parts += [f"## {title(tag)}", *([TAGS[tag]] if tag in TAGS else [])]
        for each in ordered:
            if each.tag == tag:
                parts += _operation(each, answers.get(each.name), shown)
    parts += ["## Objects of several operations", *fields.documents()]
    return "\n\n".join(parts) + "\n"


def in_order(operations: Sequence[Operation]) -> list[Operation]:
    """By tag; within one, what deletes comes last, so that the examples can be tried in turn."""
    known = list(TAGS)

    def place(each: Operation) -> tuple[int, bool]:
        order = known.index(each.tag) if each.tag in TAGS else len(known)
        return order, each.method == "DELETE"

    return sorted(operations, key=place)


def title(tag: str) -> str:
    return tag[:1].upper() + tag[1:]


def heading(each: Operation) -> str:
    return f"{each.method} {each.path}"


def link(each: Operation) -> str:
    return link_to(heading(each))


def link_to(text: str) -> str:
    return f"[`{text}`](#{anchor(text)})"


def anchor(text: str) -> str:
    """Where a code host puts a heading."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def _contents(ordered: Sequence[Operation], tags: Sequence[str]) -> Iterator[str]:
    yield "## Operations"
    lines = ["| | Operation | |", "|---|---|---|"]
    for tag in tags:
        name = f"[{title(tag)}](#{anchor(tag)})"
        for each in ordered:
            if each.tag == tag:
                lines.append(f"| {name} | {link(each)} | {each.summary} |")
                name = ""
    yield "\n".join(lines)


def _operation(each: Operation, recorded: Recorded | None, shown: fields.Shown) -> Iterator[str]:
    yield f"### {heading(each)}"
    said = f"{each.summary}. {each.description}".strip()
    yield f"{said} {needs(each.permission)}"
    if each.query is not None:
        yield fields.table("Parameter", each.query)
    if each.body is not None:
        table = fields.body(each.body, link(each), shown)
        yield table if each.body_required else f"The body may be left out.\n\n{table}"
    yield f"```sh\n{curl(each)}\n```"
    yield from _answer(each, recorded)


def needs(permission: Permission | None) -> str:
    if permission is None:
        return "Needs no key."
    lowest = next(role for role in Role if permission in PERMITTED[role])
    return f"Needs the role `{lowest.value}`{'' if lowest is Role.PLATFORM else ' or above'}."


def curl(each: Operation) -> str:
    """The example, in words that any shell understands."""
    flags = ["curl -sS"]
    if each.media == STREAM:
        flags.append("-N --max-time 5")
    if each.method != "GET":
        flags.append(f"-X {each.method}")
    lines = [" ".join([*flags, f'"$ROTA_URL{example_path(each)}"'])]
    if each.permission is not None:
        lines.append('-H "Authorization: Bearer $ROTA_KEY"')
    lines += [f'-H "{name}: {value}"' for name, value in HEADERS.get(each.name, {}).items()]
    given = BODIES.get(each.name, each.example)
    if each.has_body and given is not None:
        lines += ["-H 'Content-Type: application/json'", f"-d '{written(given)}'"]
    return " \\\n  ".join(lines)


def written(given: Any) -> str:
    """The body of a request, as one word of a shell."""
    text = json_text(given, "  ")
    if "'" in text or "$" in text:
        raise ValueError(f"a shell would not leave this alone: {text}")
    return text


def json_text(value: Any, above: str = "") -> str:
    """JSON that has a line for everything that is too long for one."""
    short = json.dumps(value, ensure_ascii=False)
    inner = above + "  "
    if len(above) + len(short) <= WIDEST or not isinstance(value, dict | list) or not value:
        return short
    if isinstance(value, list):
        items = [f"{inner}{json_text(each, inner)}" for each in value]
        return "[\n" + ",\n".join(items) + f"\n{above}]"
    items = [f"{inner}{json.dumps(key)}: {json_text(each, inner)}" for key, each in value.items()]
    return "{\n" + ",\n".join(items) + f"\n{above}}}"


def example_path(each: Operation) -> str:
    places = {name: f"${name.upper()}" for name in each.parameters} | PLACES
    if each.tag in NAMES:
        places["name"] = NAMES[each.tag]
    if each.name in RUNS:
        places["run_id"] = RUNS[each.name]
    if each.name in JOBS:
        places["job_id"] = JOBS[each.name]
    if each.name in KINDS:
        places["kind"] = KINDS[each.name]
    query = f"?{QUERIES[each.name]}" if each.name in QUERIES else ""
    return each.path.format(**places) + query


def _answer(each: Operation, recorded: Recorded | None) -> Iterator[str]:
    status = each.status if recorded is None else recorded.status
    said = [f"Answers `{status}`"]
    others = [code for code in (each.status, *each.other_statuses) if code != status]
    if others:
        said.append(f" (or {', '.join(f'`{code}`' for code in others)})")
    told = [code for code in codes_of(each) if code in each.problems]
    if told:
        named = ", ".join(f"[`{code}`](../problems/{code}.md)" for code in told)
        said.append(f"; may refuse with {named}")
    if recorded is None or recorded.body is None:
        yield "".join(said) + "."
        return
    if each.name in PARTS:
        said.append(f". A part of it; {link_to(WHOLE[each.tag])} shows all")
    yield "".join(said) + ":"
    if isinstance(recorded.body, str):
        yield f"```text\n{recorded.body.rstrip()}\n```"
    else:
        yield f"```json\n{json_text(recorded.body)}\n```"
