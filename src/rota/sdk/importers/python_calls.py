"""Converts the arguments of a Python call to the payload of a job."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rota.core.errors import InvalidInput


def build_call_payload(args: Sequence[Any] | None, kwargs: Mapping[str, Any] | None) -> Any:
    """The payload: the named arguments, or `args` and `kwargs` if there are positional ones."""
    payload: Any = dict(kwargs or {})
    if args:
        payload = {"args": list(args), "kwargs": payload}
    try:
        json.dumps(payload, allow_nan=False)
    except (TypeError, ValueError) as error:
        wanted = f"its arguments must be values that JSON can represent: {error}"
        raise InvalidInput("payload", None, wanted) from None
    return payload
