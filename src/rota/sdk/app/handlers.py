"""Adapts a job's function to the handlers that the Python executor calls.

The handler's check converts a payload to arguments before the attempt begins. The call passes them
to the function, with the context if the function takes one. The engine writes the return value as
JSON; yielded values are the items of a map (executors/python/map_sources.py).

Converts between the arguments of a job's function and the payload that carries them.
"""

import contextlib
import functools
import inspect
import re
import typing
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Union

import msgspec
from msgspec import UNSET, UnsetType

from rota.core.errors import InvalidInput, shorten_value
from rota.core.submissions import encode_json
from rota.executors.python import map_sources
from rota.sdk.app.contexts import CONTEXT_TYPES, LoggingContext

UNNAMED_PARAMETER_KINDS: Final = frozenset(
    {
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.VAR_POSITIONAL,
        inspect.Parameter.VAR_KEYWORD,
    }
)
_MESSAGE: Final = re.compile(r"^(?P<text>.*?)(?: - at `\$\.?(?P<path>[^`]*)`)?$", re.DOTALL)
_FIELD: Final = re.compile(r"^Object (?P<problem>missing|contains unknown).* field `(?P<name>.+)`$")


class Arguments:
    """The parameters of a function. `context` is the name of the context parameter, if any."""

    def __init__(self, function: Callable[..., Any]) -> None:
        function_name = getattr(function, "__qualname__", repr(function))
        signature, hints = _inspect_function(function, function_name)
        self.context = _find_context_parameter(signature, hints)
        parameters = [one for one in signature.parameters.values() if one.name != self.context]
        for parameter in parameters:
            if parameter.kind in UNNAMED_PARAMETER_KINDS:
                wanted = (
                    f"every parameter of {function_name} must be passable by name; "
                    "positional-only parameters, *args and **kwargs are not supported"
                )
                raise InvalidInput("job", str(parameter), wanted)
        self.names = tuple(parameter.name for parameter in parameters)
        self.return_type = hints.get("return", Any)
        self._signature = signature.replace(parameters=parameters)
        self._struct = _build_struct(parameters, hints, function_name)

    def to_payload(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], *, with_defaults: bool = False
    ) -> dict[str, Any]:
        """Convert arguments to a JSON payload; `InvalidInput` names the wrong argument. With
        `whole`, the payload includes the defaults of omitted parameters.
        """
        bound = self._bind(args, kwargs, whole=with_defaults)
        plain = {name: _plain(name, value) for name, value in bound.items()}
        self.from_payload(plain)
        for name, value in plain.items():
            encode_json(value, name)
        return plain

    def bind_partial(
        self,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        *,
        placeholder: type[Any],
        with_defaults: bool = False,
    ) -> dict[str, Any]:
        """Bind arguments of which some contain placeholders of type `unknown`, and check the
        others.
        """
        bound = self._bind(args, kwargs, whole=with_defaults)
        hints = {field.name: field.type for field in msgspec.structs.fields(self._struct)}
        for name, value in bound.items():
            if not _contains(value, placeholder):
                try:
                    msgspec.convert(_plain(name, value), hints[name], str_keys=True)
                except msgspec.ValidationError as error:
                    raise convert_error(error, value, argument=name) from None
        return bound

    def _bind(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], *, whole: bool
    ) -> dict[str, Any]:
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            shown = ", ".join(
                [*map(shorten_value, args), *(f"{k}={shorten_value(v)}" for k, v in kwargs.items())]
            )
            wanted = f"expected arguments for {self._signature}: {error}"
            raise InvalidInput("arguments", f"({shown})", wanted) from None
        if whole:
            bound.apply_defaults()
        return bound.arguments

    def from_payload(self, payload: Any) -> dict[str, Any]:
        """Convert a payload to arguments of the annotated types."""
        fields = {} if payload is None else payload
        try:
            struct = msgspec.convert(fields, self._struct, str_keys=True)
        except msgspec.ValidationError as error:
            raise convert_error(error, fields) from None
        return {name: value for name in self.names if (value := getattr(struct, name)) is not UNSET}

    def schema(self) -> dict[str, Any] | None:
        """The payload as JSON Schema, with the defaults; None if a type cannot be described."""
        try:
            document = msgspec.json.schema(self._struct)
        except TypeError:
            return None
        definitions = document.pop("$defs", {})
        schema: dict[str, Any] = definitions.pop("Arguments", {})
        for name, field in schema.get("properties", {}).items():
            default = self._signature.parameters[name].default
            if default is not inspect.Parameter.empty and default is not None:
                with contextlib.suppress(TypeError, ValueError, RecursionError):
                    field["default"] = msgspec.to_builtins(default, str_keys=True)
        schema.pop("title", None)
        return schema | ({"$defs": definitions} if definitions else {})

    def convert_result(self, value: Any) -> Any:
        """Convert a JSON result to the annotated return type."""
        # A run that was completed in its own transaction may have no result despite the annotation.
        if value is None or self.return_type is Any:
            return value
        try:
            return msgspec.convert(value, self.return_type, str_keys=True)
        except msgspec.ValidationError as error:
            wanted = f"expected a value of the annotated return type: {error}"
            raise InvalidInput("result", value, wanted) from None


def _inspect_function(
    function: Callable[..., Any], function_name: str
) -> tuple[inspect.Signature, dict[str, Any]]:
    # The annotations of a callable object are on its __call__ method.
    annotated = function
    if not inspect.isroutine(function) and not isinstance(function, functools.partial):
        annotated = getattr(function, "__call__", function)  # noqa: B004 — the method is needed
    try:
        return inspect.signature(function), typing.get_type_hints(annotated, include_extras=True)
    except (TypeError, ValueError) as error:
        raise InvalidInput("job", function_name, f"expected a function: {error}") from None
    except NameError as error:
        wanted = f"its annotations must be resolvable in the module that defines it: {error}"
        raise InvalidInput("job", function_name, wanted) from None


def _find_context_parameter(signature: inspect.Signature, hints: Mapping[str, Any]) -> str | None:
    for name in signature.parameters:
        hint = hints.get(name)
        # A function that is also called without a context annotates `rota.Context | None`.
        if name == "ctx" or any(_is_context(part) for part in (hint, *typing.get_args(hint))):
            return name
    return None


def _is_context(hint: Any) -> bool:
    return isinstance(hint, type) and hint in CONTEXT_TYPES


def _build_struct(
    parameters: Sequence[inspect.Parameter], hints: Mapping[str, Any], function_name: str
) -> type[msgspec.Struct]:
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for parameter in parameters:
        hint = hints.get(parameter.name, Any)
        _refuse_unknown(hint, parameter.name, function_name)
        if parameter.default is inspect.Parameter.empty:
            fields.append((parameter.name, hint))
        else:
            # A union that is built at run time.
            fields.append((parameter.name, Union[hint, UnsetType], UNSET))  # noqa: UP007
    return msgspec.defstruct("Arguments", fields, kw_only=True, forbid_unknown_fields=True)


def _refuse_unknown(hint: Any, name: str, function_name: str) -> None:
    """Refuse a type that has no JSON form at declaration time, before the first run fails."""
    wanted = f"parameters of {function_name} must have types that JSON can represent"
    try:
        info = msgspec.inspect.type_info(hint)
        msgspec.json.Decoder(hint)
    except TypeError as error:
        raise InvalidInput(name, hint, f"{wanted}: {error}") from None
    if isinstance(info, msgspec.inspect.CustomType):
        raise InvalidInput(name, hint, f"{wanted}, such as a dataclass or a msgspec Struct")


def _contains(value: Any, unknown: type[Any]) -> bool:
    """Whether a value contains an object of this type."""
    found = False

    def visit(part: Any) -> Any:
        nonlocal found
        if not isinstance(part, unknown):
            raise NotImplementedError
        found = True

    try:
        msgspec.to_builtins(value, str_keys=True, enc_hook=visit)
    except (TypeError, ValueError, RecursionError, NotImplementedError):
        return False
    return found


def _plain(name: str, value: Any) -> Any:
    try:
        return msgspec.to_builtins(value, str_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        wanted = f"expected a value that JSON can represent: {error}"
        raise InvalidInput(name, value, wanted) from None


def convert_error(
    error: msgspec.ValidationError, payload: Any, *, argument: str | None = None
) -> InvalidInput:
    """Convert an error of msgspec to `InvalidInput` with the path of the argument."""
    message = _MESSAGE.match(str(error))
    text = message["text"] if message else str(error)
    path = (message["path"] if message else None) or ""
    if argument is not None:
        payload = {argument: payload}
        path = f"{argument}{'' if not path or path.startswith('[') else '.'}{path}"
    top = re.split(r"[.\[]", path, maxsplit=1)[0]
    value = payload.get(top) if isinstance(payload, Mapping) and top else payload
    field = _FIELD.match(text)
    if field is None:
        wanted = text.replace("`", "")
        return InvalidInput(path or "arguments", value, wanted[:1].lower() + wanted[1:])
    where = f"{path}.{field['name']}" if path else field["name"]
    if field["problem"] == "missing":
        return InvalidInput(where, None, "a value is required")
    inner = value.get(field["name"]) if isinstance(value, Mapping) else value
    return InvalidInput(where, inner, "unknown parameter")


HandlerFunction = Callable[[Any, dict[str, Any]], Any]


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling the function returns an awaitable."""
    method = getattr(function, "__call__", None)  # noqa: B004 — the method itself is needed
    return any(inspect.iscoroutinefunction(callee) for callee in (function, method))


def build_handler(function: Callable[..., Any], arguments: Arguments) -> HandlerFunction:
    """Build a handler that takes a context and the arguments that `arguments.read` returned."""
    if map_sources.is_async_generator(function):
        return _wrap_async_generator(function, arguments.context)
    if map_sources.is_generator(function):
        return _wrap_generator(function, arguments.context)
    return (
        _wrap_coroutine(function, arguments.context)
        if is_async(function)
        else _wrap_function(function, arguments.context)
    )


def _wrap_coroutine(
    function: Callable[..., Awaitable[Any]], context: str | None
) -> HandlerFunction:
    async def without_context(_context: Any, args: dict[str, Any]) -> Any:
        return await function(**args)

    async def with_context(attempt: Any, args: dict[str, Any]) -> Any:
        return await function(**{str(context): LoggingContext(attempt)}, **args)

    return without_context if context is None else with_context


def _wrap_function(function: Callable[..., Any], context: str | None) -> HandlerFunction:
    def without_context(_context: Any, args: dict[str, Any]) -> Any:
        return function(**args)

    def with_context(attempt: Any, args: dict[str, Any]) -> Any:
        return function(**{str(context): LoggingContext(attempt)}, **args)

    return without_context if context is None else with_context


def _wrap_async_generator(
    function: Callable[..., AsyncIterator[Any]], context: str | None
) -> HandlerFunction:
    async def source(attempt: Any, args: dict[str, Any]) -> AsyncIterator[Any]:
        async for item in function(**_context_argument(context, attempt), **args):
            yield item

    return source


def _wrap_generator(function: Callable[..., Iterator[Any]], context: str | None) -> HandlerFunction:
    def source(attempt: Any, args: dict[str, Any]) -> Iterator[Any]:
        yield from function(**_context_argument(context, attempt), **args)

    return source


def _context_argument(context: str | None, attempt: Any) -> dict[str, Any]:
    return {} if context is None else {context: LoggingContext(attempt)}
