"""The quota on periods is checked within a number of steps, however many schedules there are."""

from datetime import UTC, datetime, timedelta

import pytest

from rota.contract.schedule import read_saved_schedule
from rota.core.errors import InvalidSchedule, SearchTooLong
from rota.core.quotas import Quotas
from rota.engine.submission.quotas import check_period_quota

NOW = datetime(2026, 11, 18, tzinfo=UTC)
QUOTAS = Quotas(min_period=timedelta(minutes=1))


async def test_schedules_that_are_too_dense_are_refused() -> None:
    dense = read_saved_schedule({"cron": "*/5 * * * * *"})

    with pytest.raises(InvalidSchedule, match="min_period"):
        await check_period_quota(QUOTAS, [None, dense], NOW)


async def test_many_costly_schedules_share_one_budget() -> None:
    sparse = [read_saved_schedule({"cron": [f"{minute} 0 29 2 *" for minute in range(30)]})] * 1000

    with pytest.raises(SearchTooLong):
        await check_period_quota(QUOTAS, sparse, NOW)


async def test_without_the_quota_nothing_is_searched() -> None:
    await check_period_quota(Quotas(), [read_saved_schedule({"cron": "* * * * * *"})], NOW)
