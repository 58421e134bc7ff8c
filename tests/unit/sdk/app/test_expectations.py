"""`rota.Expect` and `rota.Alert` are the documents of the API, with Python's durations."""

from datetime import time, timedelta

import pytest

import rota
from rota.core.errors import InvalidInput
from rota.sdk.app.declaration import read_declaration


def test_an_expectation_is_written_as_the_api_takes_it() -> None:
    declaration = read_declaration(
        {
            "cron": "30 2 * * *",
            "expect": rota.Expect(
                start_within=timedelta(minutes=5),
                finish_by=time(6),
                succeed_every="26h",
                max_duration={"times": 2, "at_least": timedelta(minutes=5)},
                failures={"streak": 2},
            ),
            "alert": rota.Alert(to="team", severity="page", hold_for=timedelta(minutes=2)),
        }
    )

    assert declaration.options["expect"] == {
        "start_within": "PT5M",
        "finish_by": "06:00",
        "succeed_every": "26h",
        "max_duration": {"times": 2, "at_least": "PT5M"},
        "failures": {"streak": 2},
    }
    assert declaration.options["alert"] == {"to": "team", "severity": "page", "for": "PT2M"}


def test_a_deadline_may_be_a_duration_after_the_tick() -> None:
    declaration = read_declaration(
        {"cron": "30 2 * * *", "expect": rota.Expect(finish_by=timedelta(hours=3, minutes=30))}
    )

    assert declaration.options["expect"] == {"finish_by": "+PT3H30M"}


def test_a_plain_dict_is_accepted_and_a_wrong_field_is_refused_at_the_decorator() -> None:
    app = rota.App("reports")

    with pytest.raises(InvalidInput, match="did you mean finish_by"):

        @app.job(cron="30 2 * * *", expect={"finishby": "06:00"})
        async def report(_ctx: rota.Context) -> None: ...
