"""Reads what a request carries, within bounds. Room: api.

A body is read up to its limit and for a limited time, is JSON, and has the shape that the operation
says; unknown fields are refused, because a typo in a retry policy must not pass. Query parameters
likewise.
"""

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, get_args, get_origin

import msgspec
from msgspec import Meta, Struct
from starlette.requests import ClientDisconnect, Request

from rota.api.problems import FieldError, Refusal, refusal_of
from rota.api.shapes.pieces import ANY_CASE
from rota.contract.documents import explain


async def read_body(request: Request, *, largest: int) -> bytes:
    """The raw body; refused as soon as it is known to be too large. The connection guard ends one
    that arrives too slowly.
    """
    said = request.headers.get("content-length", "")
    if said.isdigit() and int(said) > largest:
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
        raise Refusal("malformed_request", "the body ended early") from None
    return b"".join(parts)


def decode_body(raw: bytes, request: Request, shape: Any, *, required: bool = True) -> Any:
    """What the body says, in the shape that is wanted."""
    if not raw:
        if required:
            raise Refusal("malformed_request", "a body is needed")
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
    """The query parameters, in the shape of the operation; a list may be given several times."""
    if shape is None and not request.scope["query_string"]:
        return None
    given = request.query_params
    fields = {} if shape is None else {each.encode_name: each for each in struct_fields(shape)}
    values: dict[str, Any] = {}
    for name in dict.fromkeys(given.keys()):
        said = given.getlist(name)
        if name not in fields:
            raise unknown_parameter(name, list(fields))
        if any("\0" in each for each in said):
            raise parameter_refused(name, "has a NUL; send text without it")
        if is_list(fields[name].type):
            values[name] = in_small_letters(name, fields[name].type, said)
        elif len(said) > 1:
            raise parameter_refused(name, "was given more than once")
        else:
            values[name] = said[0]
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
    """The values of a list of words, if they may be written in any case; the others as they are."""
    inner = get_args(annotation)[0] if get_args(annotation) else None
    told = getattr(inner, "__metadata__", ())
    if not any(isinstance(meta, Meta) and meta.extra == ANY_CASE for meta in told):
        return said
    words = list(dict.fromkeys(word.lower() for word in get_args(inner.__origin__)))  # type: ignore[union-attr] # Annotated has one
    for place, each in enumerate(said):
        if each.lower() not in words:
            detail = f"{each[:100]!r} is not accepted; one of {', '.join(words)}"
            wrong = FieldError(pointer=f"/{name}/{place}", code="invalid_input", detail=detail)
            raise Refusal("invalid_input", f"{name}: {detail}", errors=[wrong])
    return [each.lower() for each in said]


def invalid(error: msgspec.ValidationError, shape: Any, value: object) -> Refusal:
    """What is wrong with a value that does not have the shape: where, what it is, what may be."""
    return refusal_of(explain(error, shape, value))


def unknown_parameter(name: str, known: Sequence[str]) -> Refusal:
    shown = ", ".join(known) or "none"
    return parameter_refused(name[:100], f"is not a parameter of this operation; it knows {shown}")


def parameter_refused(name: str, detail: str) -> Refusal:
    wrong = FieldError(pointer=f"/{name}", code="invalid_input", detail=detail)
    return Refusal("invalid_input", f"the parameter {name} {detail}", errors=[wrong])


def too_large(largest: int) -> Refusal:
    return Refusal("too_large", f"the body may have at most {largest:,} bytes")
