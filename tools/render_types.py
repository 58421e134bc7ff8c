"""Renders the dashboard's TypeScript types of the API: data types, operations with the permissions
they need, and the states of jobs and runs. `web/src/api/client.ts` uses them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, get_args

import msgspec

from rota.api import openapi
from rota.api.operations import Operation
from rota.contract import job
from rota.contract.documents import ALLOWED_KEY, find_choices, find_extra
from rota.contract.field_types import DURATION_ALLOWED
from rota.contract.job_values import JOB_DEFAULTS
from rota.core import states
from rota.core.access import ROLE_PERMISSIONS
from rota.core.policy import NO_LIMIT

HEAD: Final = """\
// Requests and responses of the API. Rendered from src/rota/api by `make generate`; do not edit.
"""
PLAIN: Final = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}


def types_ts(operations: Sequence[Operation]) -> str:
    """Render the whole file."""
    document = openapi.build_document(operations, version="")
    shapes = document["components"]["schemas"]
    shown = [each for each in operations if each.path.startswith("/v1/")]
    parts = [
        HEAD,
        *(shape(name, shapes[name]) for name in sorted(shapes)),
        "/** Every operation, by its method and path. */",
        "export interface Operations {",
        *(operation(each, document["paths"][each.path][each.method.lower()]) for each in shown),
        "}",
        "",
        constant("RUN_STATES", [each.value for each in states.RunState]),
        constant(
            "LIVE_STATES", [each.value for each in states.RunState if each in states.LIVE_STATES]
        ),
        constant("JOB_STATES", [each.value for each in states.JobState]),
        "/** The permissions of each role. */",
        constant(
            "ROLES", {role.value: sorted(may(given)) for role, given in ROLE_PERMISSIONS.items()}
        ),
        "/** The permission that each operation needs. */",
        constant("NEEDS", {key(each): need(each) for each in shown if each.permission}),
        "",
    ]
    return "\n".join(parts)


def may(given: frozenset[Any]) -> Iterator[str]:
    return (each.name.lower() for each in given)


def key(each: Operation) -> str:
    return f"{each.method} {each.path}"


def need(each: Operation) -> str:
    return each.permission.name.lower() if each.permission else ""


def constant(name: str, value: object) -> str:
    return f"export const {name} = {json.dumps(value, indent=2)} as const;"


def shape(name: str, schema: dict[str, Any]) -> str:
    about = f"/** {comment(schema['description'])} */\n" if "description" in schema else ""
    name = named(name)
    if schema.get("type") != "object" or "properties" not in schema:
        return f"{about}export type {name} = {typed(schema)};\n"
    return f"{about}export interface {name} {members(schema, indent='')}\n"


def named(name: str) -> str:
    """The TypeScript name: OpenAPI prefixes types of the same name with their module."""
    module, _, own = name.rpartition(".")
    return f"{own}_{module.rpartition('.')[2]}" if module else name


def comment(text: str) -> str:
    return " ".join(text.split()).replace("*/", "* /")


def members(schema: dict[str, Any], *, indent: str) -> str:
    required = set(schema.get("required", ()))
    lines = []
    for name, each in schema["properties"].items():
        if "description" in each:
            lines.append(f"{indent}  /** {comment(each['description'])} */")
        mark = "" if name in required else "?"
        lines.append(f"{indent}  {json.dumps(name)}{mark}: {typed(each)};")
    return "\n".join(["{", *lines, f"{indent}}}"])


def typed(schema: dict[str, Any]) -> str:
    """Convert a JSON Schema to a type; `unknown` if it has no type."""
    if "$ref" in schema:
        return named(schema["$ref"].rpartition("/")[2])
    if "enum" in schema:
        return " | ".join(json.dumps(each) for each in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(typed(each) for each in schema["anyOf"]))
    if schema.get("type") == "array":
        return f"Array<{typed(schema.get('items', {}))}>"
    if schema.get("type") == "object":
        if "properties" in schema:
            return members(schema, indent="  ")
        return f"Record<string, {typed(schema.get('additionalProperties') or {})}>"
    return PLAIN.get(str(schema.get("type")), "unknown")


def operation(each: Operation, described: dict[str, Any]) -> str:
    query = [one for one in described["parameters"] if one["in"] == "query"]
    fields = [
        f"{json.dumps(one['name'])}{'' if one['required'] else '?'}: "
        f"{typed(one['schema'])}{'' if one['required'] else ' | undefined'}"
        for one in query
    ]
    path = [f"{name}: string" for name in each.parameters]
    body = answer = "undefined"
    if "requestBody" in described:
        body = typed(described["requestBody"]["content"]["application/json"]["schema"])
        if not each.body_required:
            body += " | undefined"
    if each.answer is not None:
        content = described["responses"][str(each.status)]["content"]
        answer = typed(content["application/json"]["schema"])
    return (
        f"  /** {comment(each.summary)}. */\n"
        f"  {json.dumps(key(each))}: {{ path: {{ {'; '.join(path)} }};"
        f" query: {{ {'; '.join(fields)} }};"
        f" body: {body}; answer: {answer} }};"
    )


FIELDS_HEAD: Final = """\
// The fields of a job that a form shows. Rendered from src/rota/contract/job.py by `make generate`;
// do not edit.

export interface JobField {
  /** Its name in the API. */
  readonly name: string;
  /** `retries` is the number of attempts after the first one. */
  readonly kind: "choice" | "document" | "duration" | "number" | "retries" | "text";
  /** Whether null is allowed; the form shows it as an empty text. */
  readonly isNullable: boolean;
  /** The default value; a duration is ISO 8601. */
  readonly default: string;
  readonly choices: readonly string[];
  readonly maxLength: number | null;
  readonly description: string;
}

"""
# Fields with their own inputs in the form.
APART: Final = frozenset({"kind", "payload", "graph", "labels"})


def job_fields_ts() -> str:
    """Render the fields of a job for the dashboard's form."""
    shown = [each for each in job.JOB_FIELDS.values() if each.option and each.name not in APART]
    entries = [f"  {json.dumps(job_field(each), ensure_ascii=False)}," for each in shown]
    begin, end = "export const JOB_FIELDS = [", "] as const satisfies readonly JobField[];"
    return FIELDS_HEAD + "\n".join([begin, *entries, end, ""])


def job_field(field: job.JobField) -> dict[str, Any]:
    value = JOB_DEFAULTS[field.name]
    schema = msgspec.json.schema(field.type)
    options = schema.get("anyOf", [schema])
    texts = [each for each in options if each.get("type") == "string"]
    choices = find_choices(field.type)
    if field.name == "retries":
        kind, value = "retries", value["max"]
    elif any("$ref" in each for each in options):
        kind = "document"
    elif choices is not None:
        kind = "choice"
    elif find_extra(field.type).get(ALLOWED_KEY) == DURATION_ALLOWED:
        kind = "duration"
    else:
        kind = "text" if texts else "number"
    return {
        "name": field.name,
        "kind": "number" if field.shown_type is int else kind,
        "isNullable": {"type": "null"} in options,
        "default": "" if value in {None, NO_LIMIT} else str(value),
        "choices": list(get_args(choices)),
        "maxLength": next((each["maxLength"] for each in texts if "maxLength" in each), None),
        "description": field.description,
    }
