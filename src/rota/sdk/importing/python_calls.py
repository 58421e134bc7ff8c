"""A call of a Python function as the payload of a job. Room: sdk/importing."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rota.core.errors import InvalidInput


def payload_of(args: Sequence[Any] | None, kwargs: Mapping[str, Any] | None) -> Any:
    """Named arguments are the payload; places have no names, so those that have one go beside."""
    payload: Any = dict(kwargs or {})
    if args:
        payload = {"args": list(args), "kwargs": payload}
    try:
        json.dumps(payload, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput("payload", None, f"arguments that JSON can hold: {error}") from None
    return payload
