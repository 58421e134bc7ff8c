"""Builds the OpenAPI document from the catalogue.

It uses the same structs that decode requests and encode responses, so the document matches the
code. msgspec converts structs to JSON Schema 2020-12, on which OpenAPI 3.1 is based.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from rota.api import identifiers
from rota.api.operations import Operation
from rota.api.problems import PROBLEM_KINDS, PROBLEM_MEDIA_TYPE, Problem, describe_status
from rota.contract.document_fields import DOCUMENT_STRUCTS, SCHEMA_REF

COMMON_PROBLEMS: Final = ("too_many_requests", "internal", "unavailable", "header_too_large")
KEY_PROBLEMS: Final = ("unauthenticated", "not_allowed")
BODY_PROBLEMS: Final = ("malformed_request", "too_large", "unsupported_media_type", "invalid_input")
IDEMPOTENCY_PROBLEMS: Final = ("conflict", "idempotency_key_reused", "malformed_request")
API_TITLE: Final = "Rota"
API_DESCRIPTION: Final = (
    "Distributed cron, job queue and job graphs in one service. Times are RFC 3339 in UTC, "
    "durations ISO 8601 (`15m` is accepted too). Errors are RFC 9457 problems."
)


def build_document(operations: Sequence[Operation], *, version: str) -> dict[str, Any]:
    """Build the whole document."""
    shapes = list(dict.fromkeys(_shapes(operations)))
    known = [*shapes, Problem, *DOCUMENT_STRUCTS]
    schemas, components = msgspec.json.schema_components(known, ref_template=SCHEMA_REF)
    by_shape = dict(zip(map(repr, known), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        described = _operation(operation, by_shape, components)
        paths.setdefault(operation.path, {})[operation.method.lower()] = described
        for place, path in enumerate(operation.other_paths, 2):
            other = {"operationId": f"{operation.name}_{place}", "description": _same_as(operation)}
            paths.setdefault(path, {})[operation.method.lower()] = described | other
    return {
        "openapi": "3.1.0",
        "info": {"title": API_TITLE, "version": version, "description": API_DESCRIPTION},
        "servers": [{"url": "/"}],
        "security": [{"key": []}],
        "tags": [{"name": tag} for tag in dict.fromkeys(operation.tag for operation in operations)],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _same_as(operation: Operation) -> str:
    return f"Same as `{operation.method} {operation.path}`."


def _shapes(operations: Iterable[Operation]) -> Iterable[Any]:
    for operation in operations:
        yield from (
            shape
            for shape in (operation.query, operation.body, operation.answer)
            if shape is not None
        )


def _operation(
    operation: Operation, by_shape: dict[str, Any], components: dict[str, Any]
) -> dict[str, Any]:
    document: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "tags": [operation.tag],
        "parameters": [*_path_parameters(operation), *_query_parameters(operation, components)],
        "responses": _responses(operation, by_shape),
    }
    if operation.description:
        document["description"] = operation.description
    if operation.permission is None:
        document["security"] = []
    if operation.method == "POST" and operation.scope != "none":
        text = _SHOWN_ONCE if operation.reveals_secret else _REPEATED
        document["parameters"].append(_IDEMPOTENCY_KEY | {"description": text})
    if operation.has_body:
        content: dict[str, Any] = {
            "schema": by_shape[repr(operation.body)] if operation.body else {}
        }
        if operation.example is not None:
            content["example"] = operation.example
        others = {media: {"schema": schema} for media, schema in operation.other_bodies.items()}
        document["requestBody"] = {
            "required": operation.body_required,
            "content": {"application/json": content, **others},
        }
    return document


_REPEATED: Final = (
    "Makes retries safe: for a day, the same key with the same request returns the first response. "
    "Default: none."
)
_SHOWN_ONCE: Final = (
    "Makes retries safe: for a day, the same key with the same request fails with "
    "`secret_shown_once`, which names what the first request created. The secret is not stored. "
    "Default: none."
)
_IDEMPOTENCY_KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
}


def _path_parameters(operation: Operation) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": identifiers.build_schema(name),
        }
        for name in operation.parameters
    ]


def _query_parameters(operation: Operation, components: dict[str, Any]) -> list[dict[str, Any]]:
    if operation.query is None:
        return []
    shape = components[operation.query.__name__]
    parameters = []
    for name, schema in shape.get("properties", {}).items():
        plain = {
            key: value for key, value in schema.items() if key not in {"description", "default"}
        }
        parameter: dict[str, Any] = {
            "name": name,
            "in": "query",
            "required": name in shape.get("required", ()),
            "schema": without_null(plain),
        }
        if "description" in schema:
            parameter["description"] = schema["description"]
        parameters.append(parameter)
    return parameters


def without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Drop null from a schema: a query cannot contain null; None means the parameter is absent."""
    options = schema.get("anyOf")
    if options is None:
        return schema
    remaining = [option for option in options if option != {"type": "null"}]
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return rest | (remaining[0] if len(remaining) == 1 else {"anyOf": remaining})


def _responses(operation: Operation, by_shape: dict[str, Any]) -> dict[str, Any]:
    good: dict[str, Any] = {"description": describe_status(operation.status)}
    if operation.answer is not None:
        good["content"] = {operation.media: {"schema": by_shape[repr(operation.answer)]}}
    elif operation.media != "application/json":
        good["content"] = {operation.media: {"schema": _form_of(operation.media)}}
    for media in operation.other_media:
        good.setdefault("content", {})[media] = {"schema": _form_of(media)}
    responses = {str(operation.status): good}
    for status in operation.other_statuses:
        responses[str(status)] = good | {"description": describe_status(status)}
    by_status: dict[int, list[str]] = {}
    for code in list_problem_codes(operation):
        by_status.setdefault(PROBLEM_KINDS[code].status, []).append(code)
    for status, codes in sorted(by_status.items()):
        responses[str(status)] = {
            "description": "; ".join(PROBLEM_KINDS[code].title for code in codes),
            "content": {PROBLEM_MEDIA_TYPE: {"schema": by_shape[repr(Problem)]}},
        }
    return responses


def _form_of(media: str) -> dict[str, Any]:
    """Return the schema of a text, or of events, which docs/reference describes."""
    return {} if media == "text/event-stream" else {"type": "string"}


def list_problem_codes(operation: Operation) -> list[str]:
    """Return every problem code that the operation may return."""
    codes = [*COMMON_PROBLEMS, *operation.problems, "invalid_input"]
    if operation.permission is not None:
        codes += KEY_PROBLEMS
    if operation.parameters:
        codes.append("not_found")
    if operation.has_body:
        codes += BODY_PROBLEMS
    if operation.method == "POST" and operation.scope != "none":
        codes += IDEMPOTENCY_PROBLEMS
    if operation.reveals_secret:
        codes.append("secret_shown_once")
    return list(dict.fromkeys(codes))
