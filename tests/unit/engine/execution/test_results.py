"""Results as they are stored (E14)."""

import json

import pytest

from rota.core.outcome import Succeeded
from rota.engine.execution.pipeline import encode_outcome


@pytest.mark.parametrize(
    ("result", "stored"),
    [
        ("a\x00b", "a\ufffdb"),
        ("a\\u0000b", "a\\u0000b"),
        ("\\\x00", "\\\ufffd"),
        ({"a": [1, None]}, {"a": [1, None]}),
    ],
)
def test_a_result_is_kept_but_for_what_postgresql_cannot_store(
    result: object, stored: object
) -> None:
    _, text = encode_outcome(Succeeded(result=result))

    assert json.loads(text or "") == stored
