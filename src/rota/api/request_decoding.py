"""Reads and validates the body and the query of a request.

A body has a limited size and time to arrive, must be JSON and must match the schema of the
operation. Unknown fields are refused, because a typo in a retry policy must not pass. The same
applies to query parameters.
"""

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, get_args, get_origin

import msgspec
from msgspec import Meta, Struct
from starlette.requests import ClientDisconnect, Request

from rota.api.problems import ProblemError, ProblemField, translate_error
from rota.api.schemas.field_types import ANY_CASE
from rota.contract.documents import explain_error


async def read_body(request: Request, *, limit: int) -> bytes:
    """Read the raw body; refuse it as soon as it exceeds the limit. The connection guard ends a
    body that arrives too slowly.
    """
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > limit:
        raise build_too_large(limit)
    parts: list[bytes] = []
    size = 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > limit:
                raise build_too_large(limit)
            parts.append(part)
    except ClientDisconnect:
        raise ProblemError("malformed_request", "the body is incomplete") from None
    return b"".join(parts)


def decode_body(raw: bytes, request: Request, schema: Any, *, required: bool = True) -> Any:
    """Decode the body to the given schema."""
    if not raw:
        if required:
            raise ProblemError("malformed_request", "a JSON body is required")
        return None
    media = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if media != "application/json" and not media.endswith("+json"):
        raise ProblemError(
            "unsupported_media_type", "send JSON, with content-type: application/json"
        )
    try:
        return _decode(build_decoder(schema), raw)
    except msgspec.ValidationError as error:
        raise explain_invalid(error, schema, _decode(build_decoder(Any), raw)) from None


def _decode(reader: "msgspec.json.Decoder[Any]", raw: bytes) -> Any:
    try:
        return reader.decode(raw)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ProblemError("malformed_request", f"the body is not JSON: {error}") from None
    except RecursionError:
        raise ProblemError("invalid_input", "the body is nested too deeply") from None


def decode_query(request: Request, schema: type[Struct] | None) -> Any:
    """Decode the query parameters to the given schema; a list parameter may be repeated."""
    if schema is None and not request.scope["query_string"]:
        return None
    params = request.query_params
    fields = {} if schema is None else {info.encode_name: info for info in list_fields(schema)}
    values: dict[str, Any] = {}
    for name in dict.fromkeys(params.keys()):
        texts = params.getlist(name)
        if name not in fields:
            raise build_unknown_parameter(name, list(fields))
        if any("\0" in text for text in texts):
            raise build_parameter_refusal(name, "contains a NUL character; remove it")
        if is_list(fields[name].type):
            values[name] = lower_values(name, fields[name].type, texts)
        elif len(texts) > 1:
            raise build_parameter_refusal(name, "was given more than once; send it once")
        else:
            values[name] = texts[0]
    if schema is None:
        return None
    try:
        return msgspec.convert(values, schema, strict=False)
    except msgspec.ValidationError as error:
        raise explain_invalid(error, schema, values) from None


@cache
def build_decoder(schema: Any) -> "msgspec.json.Decoder[Any]":
    return msgspec.json.Decoder(schema)


@cache
def list_fields(schema: type[Struct]) -> Sequence[msgspec.structs.FieldInfo]:
    return msgspec.structs.fields(schema)


def is_list(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        return is_list(annotation.__origin__)
    return get_origin(annotation) in {list, tuple}


def lower_values(name: str, annotation: Any, values: list[str]) -> list[str]:
    """Lower the values of a list that ignores case; return others unchanged."""
    inner = get_args(annotation)[0] if get_args(annotation) else None
    metadata = getattr(inner, "__metadata__", ())
    if not any(isinstance(meta, Meta) and meta.extra == ANY_CASE for meta in metadata):
        return values
    words = list(dict.fromkeys(word.lower() for word in get_args(inner.__origin__)))  # type: ignore[union-attr] # Annotated has one
    for index, text in enumerate(values):
        if text.lower() not in words:
            detail = f"{text[:100]!r} is invalid: expected one of {', '.join(words)}"
            field_error = ProblemField(
                pointer=f"/{name}/{index}", code="invalid_input", detail=detail
            )
            raise ProblemError("invalid_input", f"{name}: {detail}", errors=[field_error])
    return [text.lower() for text in values]


def explain_invalid(error: msgspec.ValidationError, schema: Any, value: object) -> ProblemError:
    """Explain why a value does not match the schema: where, the value, what is allowed."""
    return translate_error(explain_error(error, schema, value))


def build_unknown_parameter(name: str, known: Sequence[str]) -> ProblemError:
    shown = ", ".join(known) or "none"
    return build_parameter_refusal(name[:100], f"is unknown; known parameters: {shown}")


def build_parameter_refusal(name: str, detail: str) -> ProblemError:
    field_error = ProblemField(pointer=f"/{name}", code="invalid_input", detail=detail)
    return ProblemError("invalid_input", f"the parameter {name} {detail}", errors=[field_error])


def build_too_large(limit: int) -> ProblemError:
    return ProblemError("too_large", f"the body may have at most {limit:,} bytes")
