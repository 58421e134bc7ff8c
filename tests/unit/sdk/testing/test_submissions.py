"""Code that submits jobs is tested without a server."""

import re

import pytest

from rota.core.errors import InvalidInput
from rota.sdk.app import App
from rota.sdk.testing import Clock, Submissions, recording

pytest_plugins = ["rota.testing.pytest_plugin"]

app = App("shop")


@app.job(queue="mail")
async def send_receipt(order: int, to: str = "nobody") -> None:
    del order, to


def place_order(number: int) -> str:
    """The code of a user, which is under test."""
    send_receipt.after("10m", number)
    return send_receipt.submit(number, to="zoe").job_id


def test_submissions_are_written_down_and_can_be_asserted() -> None:
    with recording(app) as submitted:
        job_id = place_order(42)

    one = submitted.assert_submitted(send_receipt, order=42, to="zoe")
    assert one.job_id == job_id
    assert one.draft["queue"] == "mail"
    assert submitted.assert_submitted("shop.send_receipt").schedule == {"after": "10m"}
    submitted.assert_submitted(send_receipt, times=2, order=42)
    assert len(submitted) == 2


def test_an_assertion_that_fails_says_what_was_submitted() -> None:
    with recording(app) as submitted:
        with pytest.raises(AssertionError, match="nothing was submitted"):
            submitted.assert_submitted(send_receipt)
        submitted.assert_nothing_submitted()
        place_order(42)

    with pytest.raises(AssertionError, match=re.escape("with {'order': 43}; submitted: shop.")):
        submitted.assert_submitted(send_receipt, order=43)
    with pytest.raises(AssertionError, match="not submitted 1 times"):
        submitted.assert_submitted(send_receipt, times=1)
    with pytest.raises(AssertionError, match="expected no submissions"):
        submitted.assert_nothing_submitted()


def test_arguments_are_checked_as_always() -> None:
    with recording(app) as submitted, pytest.raises(InvalidInput, match="order"):
        send_receipt.submit("many")  # type: ignore[arg-type] # that is the test

    submitted.assert_nothing_submitted()


def test_many_at_once_and_keys_are_written_down_too() -> None:
    with recording(app) as submitted:
        send_receipt.submit_many([(1,), {"order": 2}])
        send_receipt.options(idempotency_key="k").submit(3)

    assert [each.payload["order"] for each in submitted] == [1, 2, 3]
    assert submitted.all[2].idempotency_key == "k"


def test_nothing_runs_and_the_old_way_comes_back() -> None:
    before = app.sender
    with recording(app):
        handle = send_receipt.submit(1)
        with pytest.raises(InvalidInput, match="nothing runs"):
            handle.result(timeout=1)

    assert app.sender is before


@pytest.fixture
def rota_apps() -> list[App]:
    return [app]


def test_the_fixtures_record_apps_and_give_a_clock(
    rota_submitted: Submissions, rota_clock: Clock
) -> None:
    place_order(rota_clock.advance("2h").hour)

    rota_submitted.assert_submitted(send_receipt, order=11)
