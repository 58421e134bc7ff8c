"""The OpenAPI document, made from the catalogue. Room: api.

The same shapes that decode requests and encode answers are written down here, so the document says
what the code does. msgspec turns shapes into JSON Schema 2020-12, which OpenAPI 3.1 is made of.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from rota.api import identifiers
from rota.api.operations import Operation
from rota.api.problems import KINDS, MEDIA, Problem, status_name
from rota.contract.bodies import DOCUMENTS, SCHEMA_REF

EVERYWHERE: Final = ("too_many_requests", "internal", "unavailable", "header_too_large")
WITH_KEY: Final = ("unauthenticated", "not_allowed")
WITH_BODY: Final = ("malformed_request", "too_large", "unsupported_media_type", "invalid_input")
WITH_IDEMPOTENCY: Final = ("conflict", "idempotency_key_reused", "malformed_request")
TITLE: Final = "Rota"
ABOUT: Final = (
    "Distributed cron, job queue and job graphs in one service. Times are RFC 3339 in UTC, "
    "durations ISO 8601 (`15m` is understood as well). Errors are RFC 9457 problems."
)


def document(operations: Sequence[Operation], *, version: str) -> dict[str, Any]:
    """The whole document."""
    shapes = list(dict.fromkeys(_shapes(operations)))
    known = [*shapes, Problem, *DOCUMENTS]
    schemas, components = msgspec.json.schema_components(known, ref_template=SCHEMA_REF)
    by_shape = dict(zip(map(repr, known), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for each in operations:
        made = _operation(each, by_shape, components)
        paths.setdefault(each.path, {})[each.method.lower()] = made
        for place, path in enumerate(each.other_paths, 2):
            other = {"operationId": f"{each.name}_{place}", "description": _same_as(each)}
            paths.setdefault(path, {})[each.method.lower()] = made | other
    return {
        "openapi": "3.1.0",
        "info": {"title": TITLE, "version": version, "description": ABOUT},
        "servers": [{"url": "/"}],
        "security": [{"key": []}],
        "tags": [{"name": tag} for tag in dict.fromkeys(each.tag for each in operations)],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _same_as(each: Operation) -> str:
    return f"The same as `{each.method} {each.path}`."


def _shapes(operations: Iterable[Operation]) -> Iterable[Any]:
    for each in operations:
        yield from (shape for shape in (each.query, each.body, each.answer) if shape is not None)


def _operation(
    each: Operation, by_shape: dict[str, Any], components: dict[str, Any]
) -> dict[str, Any]:
    made: dict[str, Any] = {
        "operationId": each.name,
        "summary": each.summary,
        "tags": [each.tag],
        "parameters": [*_path_parameters(each), *_query_parameters(each, components)],
        "responses": _responses(each, by_shape),
    }
    if each.description:
        made["description"] = each.description
    if each.permission is None:
        made["security"] = []
    if each.method == "POST" and each.scope != "none":
        told = _SHOWN_ONCE if each.reveals_secret else _REPEATED
        made["parameters"].append(_IDEMPOTENCY_KEY | {"description": told})
    if each.has_body:
        content: dict[str, Any] = {"schema": by_shape[repr(each.body)] if each.body else {}}
        if each.example is not None:
            content["example"] = each.example
        others = {media: {"schema": schema} for media, schema in each.other_bodies.items()}
        made["requestBody"] = {
            "required": each.body_required,
            "content": {"application/json": content, **others},
        }
    return made


_REPEATED: Final = "The same key with the same request gets the same answer, for a day."
_SHOWN_ONCE: Final = (
    "The same key with the same request is refused for a day with `secret_shown_once`, which names "
    "what the first request created: the secret is not stored."
)
_IDEMPOTENCY_KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
}


def _path_parameters(each: Operation) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": identifiers.schema(name),
        }
        for name in each.parameters
    ]


def _query_parameters(each: Operation, components: dict[str, Any]) -> list[dict[str, Any]]:
    if each.query is None:
        return []
    shape = components[each.query.__name__]
    found = []
    for name, schema in shape.get("properties", {}).items():
        known = {
            key: value for key, value in schema.items() if key not in {"description", "default"}
        }
        parameter: dict[str, Any] = {
            "name": name,
            "in": "query",
            "required": name in shape.get("required", ()),
            "schema": without_null(known),
        }
        if "description" in schema:
            parameter["description"] = schema["description"]
        found.append(parameter)
    return found


def without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter that is not given is null to us; nobody can send a null in a query."""
    options = schema.get("anyOf")
    if options is None:
        return schema
    kept = [each for each in options if each != {"type": "null"}]
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return rest | (kept[0] if len(kept) == 1 else {"anyOf": kept})


def _responses(each: Operation, by_shape: dict[str, Any]) -> dict[str, Any]:
    good: dict[str, Any] = {"description": status_name(each.status)}
    if each.answer is not None:
        good["content"] = {each.media: {"schema": by_shape[repr(each.answer)]}}
    elif each.media != "application/json":
        good["content"] = {each.media: {"schema": _form_of(each.media)}}
    for media in each.other_media:
        good.setdefault("content", {})[media] = {"schema": _form_of(media)}
    responses = {str(each.status): good}
    for status in each.other_statuses:
        responses[str(status)] = good | {"description": status_name(status)}
    by_status: dict[int, list[str]] = {}
    for code in codes_of(each):
        by_status.setdefault(KINDS[code].status, []).append(code)
    for status, codes in sorted(by_status.items()):
        responses[str(status)] = {
            "description": "; ".join(KINDS[code].title for code in codes),
            "content": {MEDIA: {"schema": by_shape[repr(Problem)]}},
        }
    return responses


def _form_of(media: str) -> dict[str, Any]:
    """Text, or events: those are told in docs/reference, not here."""
    return {} if media == "text/event-stream" else {"type": "string"}


def codes_of(each: Operation) -> list[str]:
    """Every problem that the operation may answer."""
    codes = [*EVERYWHERE, *each.problems, "invalid_input"]
    if each.permission is not None:
        codes += WITH_KEY
    if each.parameters:
        codes.append("not_found")
    if each.has_body:
        codes += WITH_BODY
    if each.method == "POST" and each.scope != "none":
        codes += WITH_IDEMPOTENCY
    if each.reveals_secret:
        codes.append("secret_shown_once")
    return list(dict.fromkeys(codes))
