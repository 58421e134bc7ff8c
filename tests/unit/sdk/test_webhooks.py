"""The public verifier: simple to call, and picky about what it is given (E17)."""

import base64
import subprocess
import sys
from datetime import timedelta
from typing import Any

import pytest

from rota.core.errors import InvalidInput
from rota.runtime.clock import SystemClock
from rota.sdk import webhooks

# The same for every process that collects these tests.
SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
BODY = b'{"type":"invoice.paid","data":{"invoice":7}}'


def test_what_one_side_signs_the_other_verifies() -> None:
    headers = webhooks.sign(BODY, SECRET, id="run-1")

    received = webhooks.verify(headers, BODY, SECRET)

    assert received.id == "run-1"
    assert received.json()["data"] == {"invoice": 7}
    assert "invoice" not in repr(received)


def test_an_old_request_is_accepted_only_by_those_who_say_so() -> None:
    headers = webhooks.sign(BODY, SECRET, id="run-1")
    later = SystemClock().now() + timedelta(hours=1)

    assert webhooks.verify(headers, BODY, SECRET, now=later, tolerance=timedelta(hours=2)).id
    with pytest.raises(webhooks.InvalidSignature, match="webhook-timestamp"):
        webhooks.verify(headers, BODY, SECRET, now=later)


def test_either_of_two_secrets_is_enough() -> None:
    headers = webhooks.sign(BODY, SECRET, id="run-1")

    assert webhooks.verify(headers, BODY, [webhooks.new_secret(), SECRET]).id == "run-1"


def test_every_secret_is_another_one() -> None:
    assert len({webhooks.new_secret() for _ in range(10)}) == 10


@pytest.mark.parametrize(
    ("body", "secret", "field"),
    [("text", SECRET, "body"), (BODY, [], "secret"), (BODY, "x", "secret")],
)
def test_wrong_arguments_are_refused_by_name(body: Any, secret: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        webhooks.verify(webhooks.sign(BODY, SECRET, id="run-1"), body, secret)

    assert refused.value.field == field


def test_a_receiver_needs_no_more_than_the_standard_library() -> None:
    code = (
        "import sys; from rota.sdk import webhooks; "
        "print([name for name in ('aiohttp', 'asyncpg', 'starlette', 'msgspec', 'rich') "
        "if name in sys.modules])"
    )

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout.strip() == "[]"
