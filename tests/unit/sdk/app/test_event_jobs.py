"""Jobs that wait for events are checked where they are declared (S7, I3)."""

from datetime import timedelta
from typing import Any

import pytest

import rota
from rota.core.errors import InvalidInput

app = rota.App("shop")


@app.job(on=rota.event("order.paid", where="event.data.amount > 100"))
def thank(event: dict[str, Any], again: bool = False) -> None:
    """Gets the event itself."""


@app.job(on=rota.event("order.*", batch={"size": 10, "within": timedelta(seconds=5)}))
def load(events: list[dict[str, Any]]) -> None:
    """Gets several."""


@app.job(on="order.sent", args={"order": {"$": "event.data.order"}, "fast": True})
def tell(order: int, fast: bool) -> None:
    """Gets parts of it."""


def test_a_job_that_waits_for_an_event_is_declared_with_it() -> None:
    assert thank.declaration() == {
        "name": "shop.thank",
        "kind": "shop.thank",
        "schedule": {"event": {"type": "order.paid", "where": "event.data.amount > 100"}},
        "payload": None,
    }
    batched = load.declaration()
    assert batched is not None
    assert batched["schedule"] == {
        "event": {"type": "order.*", "batch": {"size": 10, "within": "PT5S"}}
    }
    told = tell.declaration()
    assert told is not None
    assert told["schedule"] == {"event": "order.sent"}
    assert told["payload"] == {"order": {"$": "event.data.order"}, "fast": True}


def test_it_is_still_a_function_and_can_be_submitted() -> None:
    assert thank.draft({"data": {}}, again=True)["payload"] == {
        "event": {"data": {}},
        "again": True,
    }


def declared(function: Any, **given: Any) -> None:
    rota.job(**given)(function)


def no_event(order: int) -> None:
    """Has no parameter for an event."""


def two(event: Any, order: int) -> None:
    """Wants more than an event."""


WRONG: list[tuple[Any, dict[str, Any], str]] = [
    (no_event, {"on": "a"}, "the function needs a parameter `event`"),
    (two, {"on": "a"}, "missing a required argument: 'order'"),
    (no_event, {"on": "a", "args": {"ordre": 1}}, "missing a required argument: 'order'"),
    (no_event, {"on": "a", "args": {"order": "x"}}, "order"),
    (no_event, {"on": "a", "args": {"order": {"$": "evnt.x"}}}, "unknown name; known names:"),
    (no_event, {"on": rota.event("a", batch={"size": 2, "within": "1s"})}, "a parameter `events`"),
    (no_event, {"on": rota.event("a", where="event.data >")}, "at character 13"),
    (no_event, {"on": rota.event("a", wher="x")}, "did you mean where"),
    (no_event, {"on": rota.event(all_of=["a", "b"])}, "the time to wait for the other events"),
    (no_event, {"on": "a", "cron": "* * * * *"}, "cannot be combined with another rule"),
]


@pytest.mark.parametrize(
    ("function", "given", "said"), WRONG, ids=[str(n) for n in range(len(WRONG))]
)
def test_what_is_wrong_is_said_where_it_is_declared(
    function: Any, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        declared(function, **given)
