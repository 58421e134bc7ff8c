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

from rota.api.problems import FieldError, Refusal, refusal_of
from rota.api.shapes.pieces import ANY_CASE
from rota.contract.documents import explain_error


async def read_body(request: Request, *, largest: int) -> bytes:
    """Read the raw body; refuse it as soon as it exceeds the limit. The connection guard ends a
    body that arrives too slowly.
    """
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > largest:
        raise too_large(largest)
    parts: list[bytes] = []
    size = 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > largest:
                raise too_large(largest)
            parts.append(part)
    except ClientDisconnect:
        raise Refusal("malformed_request", "the body is incomplete") from None
    return b"".join(parts)


def decode_body(raw: bytes, request: Request, shape: Any, *, required: bool = True) -> Any:
    """Decode the body to the given schema."""
    if not raw:
        if required:
            raise Refusal("malformed_request", "a JSON body is required")
        return None
    media = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if media != "application/json" and not media.endswith("+json"):
        raise Refusal("unsupported_media_type", "send JSON, with content-type: application/json")
    try:
        return _decode(decoder(shape), raw)
    except msgspec.ValidationError as error:
        raise invalid(error, shape, _decode(decoder(Any), raw)) from None


def _decode(reader: "msgspec.json.Decoder[Any]", raw: bytes) -> Any:
    try:
        return reader.decode(raw)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refusal("malformed_request", f"the body is not JSON: {error}") from None
    except RecursionError:
        raise Refusal("invalid_input", "the body is nested too deeply") from None


def decode_query(request: Request, shape: type[Struct] | None) -> Any:
    """Decode the query parameters to the given schema; a list parameter may be repeated."""
    if shape is None and not request.scope["query_string"]:
        return None
    params = request.query_params
    fields = {} if shape is None else {info.encode_name: info for info in struct_fields(shape)}
    values: dict[str, Any] = {}
    for name in dict.fromkeys(params.keys()):
        texts = params.getlist(name)
        if name not in fields:
            raise unknown_parameter(name, list(fields))
        if any("\0" in text for text in texts):
            raise parameter_refused(name, "contains a NUL character; remove it")
        if is_list(fields[name].type):
            values[name] = in_small_letters(name, fields[name].type, texts)
        elif len(texts) > 1:
            raise parameter_refused(name, "was given more than once; send it once")
        else:
            values[name] = texts[0]
    if shape is None:
        return None
    try:
        return msgspec.convert(values, shape, strict=False)
    except msgspec.ValidationError as error:
        raise invalid(error, shape, values) from None


@cache
def decoder(shape: Any) -> "msgspec.json.Decoder[Any]":
    return msgspec.json.Decoder(shape)


@cache
def struct_fields(shape: type[Struct]) -> Sequence[msgspec.structs.FieldInfo]:
    return msgspec.structs.fields(shape)


def is_list(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        return is_list(annotation.__origin__)
    return get_origin(annotation) in {list, tuple}


def in_small_letters(name: str, annotation: Any, said: list[str]) -> list[str]:
    """Lower the values of a list that ignores case; return others unchanged."""
    inner = get_args(annotation)[0] if get_args(annotation) else None
    metadata = getattr(inner, "__metadata__", ())
    if not any(isinstance(meta, Meta) and meta.extra == ANY_CASE for meta in metadata):
        return said
    words = list(dict.fromkeys(word.lower() for word in get_args(inner.__origin__)))  # type: ignore[union-attr] # Annotated has one
    for index, text in enumerate(said):
        if text.lower() not in words:
            detail = f"{text[:100]!r} is invalid: expected one of {', '.join(words)}"
            field_error = FieldError(
                pointer=f"/{name}/{index}", code="invalid_input", detail=detail
            )
            raise Refusal("invalid_input", f"{name}: {detail}", errors=[field_error])
    return [text.lower() for text in said]


def invalid(error: msgspec.ValidationError, shape: Any, value: object) -> Refusal:
    """Explain why a value does not match the schema: where, the value, what is allowed."""
    return refusal_of(explain_error(error, shape, value))


def unknown_parameter(name: str, known: Sequence[str]) -> Refusal:
    shown = ", ".join(known) or "none"
    return parameter_refused(name[:100], f"is unknown; known parameters: {shown}")


def parameter_refused(name: str, detail: str) -> Refusal:
    field_error = FieldError(pointer=f"/{name}", code="invalid_input", detail=detail)
    return Refusal("invalid_input", f"the parameter {name} {detail}", errors=[field_error])


def too_large(largest: int) -> Refusal:
    return Refusal("too_large", f"the body may have at most {largest:,} bytes")
