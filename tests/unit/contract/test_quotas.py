"""Quotas of a tenant, read and written (T1)."""

import pytest

from rota.contract.quotas import read_quotas, read_stored_quotas, write_quotas
from rota.core.errors import InvalidInput
from rota.core.quotas import Quotas


@pytest.mark.parametrize(
    "plain",
    [
        {},
        {"max_jobs": 10_000},
        {
            "max_jobs": 1,
            "max_queued": 2,
            "max_running": 3,
            "runs_per_s": 4,
            "min_period": "PT10S",
        },
    ],
)
def test_quotas_are_written_as_they_are_read(plain: dict[str, object]) -> None:
    assert write_quotas(read_quotas(plain)) == plain


def test_what_is_not_given_has_its_default_and_null_is_no_limit() -> None:
    lifted = read_quotas({"max_jobs": None, "min_period": None})

    assert (Quotas().find_limit("max_jobs"), Quotas().find_limit("max_running")) == (
        1_000_000,
        None,
    )
    assert (lifted.max_jobs, lifted.find_limit("max_jobs")) == (None, None)
    assert write_quotas(lifted) == {"max_jobs": None, "min_period": None}


@pytest.mark.parametrize(
    ("plain", "field"),
    [
        ({"max_jobs": 0}, "quotas.max_jobs"),
        ({"max_jobs": -1}, "quotas.max_jobs"),
        ({"max_jobs": True}, "quotas.max_jobs"),
        ({"max_jobs": "5"}, "quotas.max_jobs"),
        ({"max_jobs": 1.5}, "quotas.max_jobs"),
        ({"max_running": 10_001}, "quotas.max_running"),
        ({"runs_per_s": 1_000_001}, "quotas.runs_per_s"),
        ({"min_period": "500ms"}, "quotas.min_period"),
        ({"min_period": "2d"}, "quotas.min_period"),
        ({"min_period": 10}, "quotas.min_period"),
        ({"max_job": 5}, "quotas.max_job"),
        ([], "quotas"),
        (None, "quotas"),
    ],
)
def test_a_wrong_quota_is_refused_by_its_name(plain: object, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_quotas(plain)

    assert caught.value.field == field


def test_of_a_stored_quota_whose_value_is_not_known_the_default_holds() -> None:
    stored = {"max_jobs": {"soft": 5}, "max_queued": 7, "min_period": "often", "max_colours": 2}

    quotas = read_stored_quotas(stored)

    assert quotas == Quotas(max_queued=7)
    assert quotas.find_limit("max_jobs") == 1_000_000
