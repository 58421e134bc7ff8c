"""Renders the reference page of the API from the catalogue.

Paths, permissions, parameters and fields come from the operations and their schemas; the responses
were recorded from a real API. The introduction is written by hand in tools/reference.
`tools/generate.py` writes the result to docs/reference/api.md, and a test runs every example of the
page.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tools.reference import field_tables

from rota.api.openapi import list_problem_codes
from rota.api.operations import Operation
from rota.core.access import ROLE_PERMISSIONS, Permission, Role

GENERATED_NOTICE: Final = "<!-- Generated from src/rota/api by `make generate`; do not edit. -->\n"
# The sections of the page in order, with their introductions.
TAG_INTRODUCTIONS: Final = {
    "jobs": "A job defines what to run and when.",
    "schedules": "Validate and preview schedules before you save them. "
    "[schedules.md](schedules.md) describes the format.",
    "backfills": "A backfill runs a job for a past range of ticks, step by step. `POST "
    "/v1/jobs/{job_id}/backfills` starts one.",
    "tasks": "A task is a kind of work that workers serve. Jobs and submissions run tasks. "
    "Guide: [tasks.md](../howto/tasks.md).",
    "jobs as code": "Plan and apply all jobs of a project from a file. `rota plan` and "
    "`rota apply` use these operations.",
    "runs": "A run is one execution of a job, in one or more attempts. [states.md](states.md) "
    "lists its states.",
    "graphs": "A graph is a job of the kind `graph`. Each of its runs expands into runs of its "
    "steps. Guides: [graphs.md](../howto/graphs.md) and [maps.md](../howto/maps.md).",
    "dead letters": "Runs that ended as `dead`, `lost` or `quarantined`, until you requeue or drop "
    "them.",
    "events": "Events from other systems start jobs by their type. Guide: "
    "[events.md](../howto/events.md).",
    "hooks": "Webhook endpoints: senders sign their events instead of using an API key.",
    "expectations": "What must hold for runs: rules over many jobs, and the expectations of one "
    "job. [expectations.md](expectations.md) lists the conditions.",
    "routes": "Which channels get the messages of an incident, and when.",
    "incidents": "Violations of expectations, the messages about them, silences and channels. "
    "Guides: [alerts.md](../howto/alerts.md) and [silences.md](../howto/silences.md).",
    "pings": "URLs to which work outside of Rota reports. Guide: "
    "[ping-urls.md](../howto/ping-urls.md).",
    "webhooks": "Subscriptions that send [events of Rota](events.md) to URLs. Guide: "
    "[webhook-subscriptions.md](../howto/webhook-subscriptions.md).",
    "queues": "All tenants share the queues. A queue is created when a job or a worker names it.",
    "cluster": "Workers, schedulers and shards.",
    "statistics": "Figures of the tenant. [metrics.md](metrics.md) lists the metrics of the "
    "installation.",
    "feed": "A live stream of changes. [feed.md](feed.md) lists the events.",
    "calendars": "Days and times at which jobs do not run.",
    "secrets": "Encrypted values that jobs use. The API never returns them.",
    "keys": "API keys and their roles. Keys with the role `platform` are not listed here; "
    "`POST /v1/tenants/{tenant_id}/keys` creates them.",
    "users": "Owners of jobs and keys.",
    "tenants": "Tenants share an installation and are isolated from each other.",
    "audit": "The log of changes.",
    "service": "The API itself.",
}
# Path parameters of the examples; the others come from an earlier response.
EXAMPLE_PARAMETERS: Final = {
    "queue": "batch",
    "kind": "report",
    "user_id": "u003",
    "file": "page.css",
    "code": "not_found",
    "signal": "fail",
}
EXAMPLE_NAMES: Final = {
    "jobs": "hourly-sync",
    "calendars": "holidays",
    "secrets": "smtp-password",
    "routes": "team-billing",
    "incidents": "chat",
}
EXAMPLE_RUNS: Final = {
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
    "predict_run_finish": "$ORDERS_RUN_ID",
}
EXAMPLE_JOBS: Final = {
    "get_graph": "$GRAPH_JOB_ID",
    "predict_job_finish": "$ORDERS_JOB_ID",
    "list_job_expectations": "$ORDERS_JOB_ID",
}
EXAMPLE_KINDS: Final = {"get_dead_group": "$DEAD_KIND"}
EXAMPLE_QUERIES: Final = {
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
# Examples that replace the declared ones, whose names would already be taken.
EXAMPLE_BODIES: Final[dict[str, Any]] = {
    "create_jobs": {
        "jobs": [
            {"name": "report of the north", "cron_expression": "0 6 * * 1"},
            {"name": "report of the south", "cron_expression": "5 6 * * 1"},
        ]
    },
    "create_backfill": {
        "since": "2025-07-01T00:00:00Z",
        "until": "2025-07-03T00:00:00Z",
        "order": "newest",
    },
}
# Bodies of examples that are no JSON.
EXAMPLE_TEXTS: Final = {
    "send_ping_with_output": "copied 42 files",
    "send_ping_signal_with_output": "disk is full",
}
# Additional headers of examples: signatures, which a shell cannot compute.
EXAMPLE_HEADERS: Final = {
    "call_hook": {
        "webhook-id": "$MESSAGE_ID",
        "webhook-timestamp": "$MESSAGE_TIME",
        "webhook-signature": "$SIGNATURE",
    }
}
# Responses of which only these fields are shown: all are shown elsewhere, or there are too many.
EXCERPT_FIELDS: Final = {
    "update_job": ("job_id", "name", "payload", "version", "updated_at"),
    "patch_job": ("job_id", "name", "priority", "version", "updated_at"),
    "put_job": ("job_id", "name", "cron_expression", "next_run_at", "version"),
    "pause_job": ("job_id", "name", "status", "held", "next_run_at", "version"),
    "resume_job": ("job_id", "name", "status", "held", "next_run_at", "version"),
    "get_openapi": ("openapi", "info", "servers", "tags"),
}
FULL_EXAMPLES: Final = {"jobs": "GET /v1/jobs/{job_id}", "service": "GET /docs"}
STREAM: Final = "text/event-stream"
JSON_LINE_CHARS_MAX: Final = 72


class RecordedResponse(NamedTuple):
    """The recorded response to the example; `body` is JSON, a text, or None."""

    status: int
    media: str
    body: Any


def render_reference(
    introduction: str, operations: Sequence[Operation], answers: Mapping[str, RecordedResponse]
) -> str:
    """Render the whole page, with a newline at the end."""
    ordered = sort_operations(operations)
    tags = list(dict.fromkeys(operation.tag for operation in ordered))
    shown = field_tables.ShownSchemas()
    parts = [GENERATED_NOTICE + introduction.rstrip(), *_contents(ordered, tags)]
    for tag in tags:
        parts += [
            f"## {capitalize_tag(tag)}",
            *([TAG_INTRODUCTIONS[tag]] if tag in TAG_INTRODUCTIONS else []),
        ]
        for operation in ordered:
            if operation.tag == tag:
                parts += _operation(operation, answers.get(operation.name), shown)
    parts += ["## Shared objects", *field_tables.render_documents()]
    return "\n\n".join(parts) + "\n"


def sort_operations(operations: Sequence[Operation]) -> list[Operation]:
    """Sort by tag, deletions last in each, so that the examples can be run in order."""
    known = list(TAG_INTRODUCTIONS)

    def place(operation: Operation) -> tuple[int, bool]:
        order = known.index(operation.tag) if operation.tag in TAG_INTRODUCTIONS else len(known)
        return order, operation.method == "DELETE"

    return sorted(operations, key=place)


def capitalize_tag(tag: str) -> str:
    return tag[:1].upper() + tag[1:]


def build_heading(operation: Operation) -> str:
    return f"{operation.method} {operation.path}"


def link_operation(operation: Operation) -> str:
    return link_heading(build_heading(operation))


def link_heading(text: str) -> str:
    return f"[`{text}`](#{build_anchor(text)})"


def build_anchor(text: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def _contents(ordered: Sequence[Operation], tags: Sequence[str]) -> Iterator[str]:
    yield "## Operations"
    lines = ["| | Operation | |", "|---|---|---|"]
    for tag in tags:
        name = f"[{capitalize_tag(tag)}](#{build_anchor(tag)})"
        for operation in ordered:
            if operation.tag == tag:
                lines.append(f"| {name} | {link_operation(operation)} | {operation.summary} |")
                name = ""
    yield "\n".join(lines)


def _operation(
    operation: Operation, recorded: RecordedResponse | None, shown: field_tables.ShownSchemas
) -> Iterator[str]:
    yield f"### {build_heading(operation)}"
    text = f"{operation.summary}. {operation.description}".strip()
    yield f"{text} {describe_permission(operation.permission)}"
    if operation.query is not None:
        yield field_tables.render_table("Parameter", operation.query)
    if operation.body is not None:
        table = field_tables.render_body_fields(operation.body, link_operation(operation), shown)
        yield table if operation.body_required else f"The body is optional.\n\n{table}"
    yield f"```sh\n{render_curl(operation)}\n```"
    yield from _answer(operation, recorded)


def describe_permission(permission: Permission | None) -> str:
    if permission is None:
        return "Requires no key."
    lowest = next(role for role in Role if permission in ROLE_PERMISSIONS[role])
    return f"Requires the role `{lowest.value}`{'' if lowest is Role.PLATFORM else ' or higher'}."


def render_curl(operation: Operation) -> str:
    """Render the example as a curl command."""
    flags = ["curl -sS"]
    if operation.media == STREAM:
        flags.append("-N --max-time 5")
    if operation.method != "GET":
        flags.append(f"-X {operation.method}")
    lines = [" ".join([*flags, f'"$ROTA_URL{build_example_path(operation)}"'])]
    if operation.permission is not None:
        lines.append('-H "Authorization: Bearer $ROTA_KEY"')
    lines += [
        f'-H "{name}: {value}"' for name, value in EXAMPLE_HEADERS.get(operation.name, {}).items()
    ]
    example = EXAMPLE_BODIES.get(operation.name, operation.example)
    if operation.has_body and example is not None:
        lines += ["-H 'Content-Type: application/json'", f"-d '{render_body(example)}'"]
    if operation.name in EXAMPLE_TEXTS:
        lines.append(f"-d '{EXAMPLE_TEXTS[operation.name]}'")
    return " \\\n  ".join(lines)


def render_body(body: Any) -> str:
    """Render the body of a request as one shell word."""
    text = render_json(body, "  ")
    if "'" in text or "$" in text:
        raise ValueError(f"a shell would expand this text: {text}")
    return text


def render_json(value: Any, indent: str = "") -> str:
    """Render JSON; break what does not fit into one line."""
    short = json.dumps(value, ensure_ascii=False)
    inner = indent + "  "
    if (
        len(indent) + len(short) <= JSON_LINE_CHARS_MAX
        or not isinstance(value, dict | list)
        or not value
    ):
        return short
    if isinstance(value, list):
        items = [f"{inner}{render_json(item, inner)}" for item in value]
        return "[\n" + ",\n".join(items) + f"\n{indent}]"
    items = [f"{inner}{json.dumps(key)}: {render_json(item, inner)}" for key, item in value.items()]
    return "{\n" + ",\n".join(items) + f"\n{indent}}}"


def build_example_path(operation: Operation) -> str:
    places = {name: f"${name.upper()}" for name in operation.parameters} | EXAMPLE_PARAMETERS
    if operation.tag in EXAMPLE_NAMES:
        places["name"] = EXAMPLE_NAMES[operation.tag]
    if operation.name in EXAMPLE_RUNS:
        places["run_id"] = EXAMPLE_RUNS[operation.name]
    if operation.name in EXAMPLE_JOBS:
        places["job_id"] = EXAMPLE_JOBS[operation.name]
    if operation.name in EXAMPLE_KINDS:
        places["kind"] = EXAMPLE_KINDS[operation.name]
    query = f"?{EXAMPLE_QUERIES[operation.name]}" if operation.name in EXAMPLE_QUERIES else ""
    return operation.path.format(**places) + query


def _answer(operation: Operation, recorded: RecordedResponse | None) -> Iterator[str]:
    status = operation.status if recorded is None else recorded.status
    parts = [f"Returns `{status}`"]
    others = [code for code in (operation.status, *operation.other_statuses) if code != status]
    if others:
        parts.append(f" (or {', '.join(f'`{code}`' for code in others)})")
    codes = [code for code in list_problem_codes(operation) if code in operation.problems]
    if codes:
        links = ", ".join(f"[`{code}`](../problems/{code}.md)" for code in codes)
        parts.append(f"; may fail with {links}")
    if recorded is None or recorded.body is None:
        yield "".join(parts) + "."
        return
    if operation.name in EXCERPT_FIELDS:
        parts.append(f". Excerpt; {link_heading(FULL_EXAMPLES[operation.tag])} shows all fields")
    yield "".join(parts) + ":"
    if isinstance(recorded.body, str):
        yield f"```text\n{recorded.body.rstrip()}\n```"
    else:
        yield f"```json\n{render_json(recorded.body)}\n```"
