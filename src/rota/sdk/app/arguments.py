"""The parameters of a job's function, and the payload that carries them. Room: sdk/app.

The payload is an object with one field for each argument. What is submitted is checked against the
annotations before it is sent, and once more by the worker, which may know another version of the
function. A parameter with a default may be left out; the function's own default holds then.
"""

import contextlib
import functools
import inspect
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Union

import msgspec
from msgspec import UNSET, UnsetType

from rota.core.errors import InvalidInput, cut
from rota.core.submission import json_text
from rota.sdk.app.contexts import CONTEXTS

NAMELESS: Final = frozenset(
    {
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.VAR_POSITIONAL,
        inspect.Parameter.VAR_KEYWORD,
    }
)
_AT: Final = re.compile(r"^(?P<said>.*?)(?: - at `\$\.?(?P<path>[^`]*)`)?$", re.DOTALL)
_FIELD: Final = re.compile(r"^Object (?P<what>missing|contains unknown).* field `(?P<name>.+)`$")


class Arguments:
    """What a function takes. `context` is the name of the parameter that gets the context."""

    def __init__(self, function: Callable[..., Any]) -> None:
        named = getattr(function, "__qualname__", repr(function))
        signature, hints = _described(function, named)
        self.context = _context_of(signature, hints)
        parameters = [each for each in signature.parameters.values() if each.name != self.context]
        for each in parameters:
            if each.kind in NAMELESS:
                wanted = f"parameters of {named} that can be given by name, without * and /"
                raise InvalidInput("job", str(each), wanted)
        self.names = tuple(each.name for each in parameters)
        self.returns = hints.get("return", Any)
        self._signature = signature.replace(parameters=parameters)
        self._shape = _shape(parameters, hints, named)

    def payload(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], *, whole: bool = False
    ) -> dict[str, Any]:
        """These arguments as JSON knows them; `InvalidInput` names the one that is wrong. If it is
        to be `whole`, those with a default are written out.
        """
        bound = self._bound(args, kwargs, whole=whole)
        plain = {name: _plain(name, value) for name, value in bound.items()}
        self.read(plain)
        for name, value in plain.items():
            json_text(value, name)
        return plain

    def partly(
        self,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        *,
        unknown: type[Any],
        whole: bool = False,
    ) -> dict[str, Any]:
        """The arguments by name, where some hold what is not known yet; the others are checked."""
        bound = self._bound(args, kwargs, whole=whole)
        hints = {field.name: field.type for field in msgspec.structs.fields(self._shape)}
        for name, value in bound.items():
            if not _holds(value, unknown):
                try:
                    msgspec.convert(_plain(name, value), hints[name], str_keys=True)
                except msgspec.ValidationError as error:
                    raise refusal(error, value, within=name) from None
        return bound

    def _bound(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], *, whole: bool
    ) -> dict[str, Any]:
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            given = ", ".join([*map(cut, args), *(f"{k}={cut(v)}" for k, v in kwargs.items())])
            wanted = f"arguments for {self._signature}: {error}"
            raise InvalidInput("arguments", f"({given})", wanted) from None
        if whole:
            bound.apply_defaults()
        return bound.arguments

    def read(self, payload: Any) -> dict[str, Any]:
        """The arguments in a payload, as the annotations want them."""
        given = {} if payload is None else payload
        try:
            found = msgspec.convert(given, self._shape, str_keys=True)
        except msgspec.ValidationError as error:
            raise refusal(error, given) from None
        return {name: value for name in self.names if (value := getattr(found, name)) is not UNSET}

    def schema(self) -> dict[str, Any] | None:
        """The payload as JSON Schema, with the defaults; None if a type has none."""
        try:
            made = msgspec.json.schema(self._shape)
        except TypeError:
            return None
        known = made.pop("$defs", {})
        shape: dict[str, Any] = known.pop("Arguments", {})
        for name, field in shape.get("properties", {}).items():
            default = self._signature.parameters[name].default
            if default is not inspect.Parameter.empty and default is not None:
                with contextlib.suppress(TypeError, ValueError, RecursionError):
                    field["default"] = msgspec.to_builtins(default, str_keys=True)
        shape.pop("title", None)
        return shape | ({"$defs": known} if known else {})

    def result(self, value: Any) -> Any:
        """A result as JSON has it, as the function returned it where the annotation says so."""
        # What was completed in a transaction of its own may have no result, whatever is annotated.
        if value is None or self.returns is Any:
            return value
        try:
            return msgspec.convert(value, self.returns, str_keys=True)
        except msgspec.ValidationError as error:
            raise InvalidInput("result", value, f"a value as annotated: {error}") from None


def _described(
    function: Callable[..., Any], named: str
) -> tuple[inspect.Signature, dict[str, Any]]:
    # The annotations of an object with __call__ are those of its method.
    face = function
    if not inspect.isroutine(function) and not isinstance(function, functools.partial):
        face = getattr(function, "__call__", function)  # noqa: B004 — its own method is wanted
    try:
        return inspect.signature(function), typing.get_type_hints(face, include_extras=True)
    except (TypeError, ValueError) as error:
        raise InvalidInput("job", named, f"a function: {error}") from None
    except NameError as error:
        wanted = f"annotations that can be resolved where it is defined: {error}"
        raise InvalidInput("job", named, wanted) from None


def _context_of(signature: inspect.Signature, hints: Mapping[str, Any]) -> str | None:
    for name in signature.parameters:
        hint = hints.get(name)
        # `rota.Context | None` is what a function says that is also called without one.
        if name == "ctx" or any(_is_context(each) for each in (hint, *typing.get_args(hint))):
            return name
    return None


def _is_context(hint: Any) -> bool:
    return isinstance(hint, type) and hint in CONTEXTS


def _shape(
    parameters: Sequence[inspect.Parameter], hints: Mapping[str, Any], named: str
) -> type[msgspec.Struct]:
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for each in parameters:
        hint = hints.get(each.name, Any)
        _refuse_unknown(hint, each.name, named)
        if each.default is inspect.Parameter.empty:
            fields.append((each.name, hint))
        else:
            fields.append((each.name, Union[hint, UnsetType], UNSET))  # noqa: UP007 — built here
    return msgspec.defstruct("Arguments", fields, kw_only=True, forbid_unknown_fields=True)


def _refuse_unknown(hint: Any, name: str, named: str) -> None:
    """A type that no JSON becomes is found where it is declared, not when the first run fails."""
    wanted = f"types that JSON can carry in {named}"
    try:
        known = msgspec.inspect.type_info(hint)
        msgspec.json.Decoder(hint)
    except TypeError as error:
        raise InvalidInput(name, hint, f"{wanted}: {error}") from None
    if isinstance(known, msgspec.inspect.CustomType):
        raise InvalidInput(name, hint, f"{wanted}: a dataclass or a Struct, for example")


def _holds(value: Any, unknown: type[Any]) -> bool:
    """Whether something of this type is in a value."""
    found = False

    def seen(each: Any) -> Any:
        nonlocal found
        if not isinstance(each, unknown):
            raise NotImplementedError
        found = True

    try:
        msgspec.to_builtins(value, str_keys=True, enc_hook=seen)
    except (TypeError, ValueError, RecursionError, NotImplementedError):
        return False
    return found


def _plain(name: str, value: Any) -> Any:
    try:
        return msgspec.to_builtins(value, str_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(name, value, f"a value that JSON can carry: {error}") from None


def refusal(
    error: msgspec.ValidationError, payload: Any, *, within: str | None = None
) -> InvalidInput:
    """What msgspec says, with the argument that it is about."""
    found = _AT.match(str(error))
    said = found["said"] if found else str(error)
    path = (found["path"] if found else None) or ""
    if within is not None:
        payload = {within: payload}
        path = f"{within}{'' if not path or path.startswith('[') else '.'}{path}"
    top = re.split(r"[.\[]", path, maxsplit=1)[0]
    value = payload.get(top) if isinstance(payload, Mapping) and top else payload
    about = _FIELD.match(said)
    if about is None:
        words = said.replace("`", "")
        return InvalidInput(path or "arguments", value, words[:1].lower() + words[1:])
    where = f"{path}.{about['name']}" if path else about["name"]
    if about["what"] == "missing":
        return InvalidInput(where, None, "a value: it is needed and was not given")
    inner = value.get(about["name"]) if isinstance(value, Mapping) else value
    return InvalidInput(where, inner, "left out: there is no such parameter")
