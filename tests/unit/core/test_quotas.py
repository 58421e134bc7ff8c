"""Quotas of a tenant: read, written, and turned into what its gate lets through (T1)."""

from datetime import timedelta

import pytest

from rota.core.errors import InvalidInput
from rota.core.limits import Limits, Rate
from rota.core.quotas import Quotas, from_plain, to_plain

SECOND = timedelta(seconds=1)


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
    assert to_plain(from_plain(plain)) == plain


def test_what_is_not_given_is_not_limited() -> None:
    assert from_plain({"max_jobs": None, "min_period": None}) == Quotas()


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
        from_plain(plain)

    assert caught.value.field == field


def test_quotas_on_running_are_limits_of_a_gate() -> None:
    both = Quotas(max_running=7, runs_per_s=3)

    assert both.limits == Limits(most=7, rate=Rate(count=3, per=SECOND, burst=3))
    assert Quotas(max_running=7).limits == Limits(most=7)
    assert Quotas(max_jobs=7, max_queued=9).limits is None
