"""The sentence that a person checks before saving (S12)."""

import pytest

from rota.core.time import cron
from rota.core.time.cron import DayMatch

SENTENCES = {
    "* * * * *": "Every minute",
    "*/15 * * * *": "Every 15 minutes",
    "0 * * * *": "Every hour",
    "*/60 * * * *": "Every hour",
    "0 0-23 * * *": "Every hour",
    "1 * * * *": "At 1 minute past every hour",
    "30 * * * *": "At 30 minutes past every hour",
    "5,20 * * * *": "At 5 and 20 minutes past every hour",
    "0-29 * * * *": "At 0 through 29 minutes past every hour",
    "7/15 * * * *": "At 7, 22, 37 and 52 minutes past every hour",
    "*/7 * * * *": "Every 7 minutes from minute 0 of each hour",
    "5,20,35 1,5,9-17 * * *": "At 5, 20 and 35 minutes past hours 1, 5 and 9 through 17",
    "0 9 * * *": "At 09:00 every day",
    "0 9,17 * * *": "At 09:00 and 17:00 every day",
    "*/20 9 * * *": "At 09:00, 09:20 and 09:40 every day",
    "* 2 * * *": "Every minute from 02:00 through 02:59",
    "0 9-17 * * *": "Every hour from 09:00 through 17:00",
    "30 18-2 * * *": "Every hour from 18:30 through 02:30",
    "0 */2 * * *": "Every 2 hours from 00:00 through 22:00",
    "15 1/3 * * *": "Every 3 hours from 01:15 through 22:15",
    "*/15 9-17 * * MON-FRI": "Every 15 minutes from 09:00 through 17:59 on Monday through Friday",
    "*/2 22-2 * * *": "Every 2 minutes from 22:00 through 02:59",
    "*/20 1,5 * * *": "At 01:00, 01:20, 01:40, 05:00, 05:20 and 05:40 every day",
    "*/10 1,5 * * *": "Every 10 minutes during hours 1 and 5",
    "0 9 * * MON-FRI": "At 09:00 on Monday through Friday",
    "0 9 * * FRI-MON": "At 09:00 on Friday through Monday",
    "0 9 * * 5-7": "At 09:00 on Friday through Sunday",
    "0 9 * * SAT,SUN": "At 09:00 on Saturday and Sunday",
    "0 9 ? * 7": "At 09:00 on Sunday",
    "0 9 * * FRI#3": "At 09:00 on the third Friday of the month",
    "0 9 * * FRIL": "At 09:00 on the last Friday of the month",
    "0 9 * 3 MON#1": "At 09:00 on the first Monday of March",
    "0 9 * 3 MON": "At 09:00 on Monday in March",
    "0 9 1 * *": "At 09:00 on day 1 of the month",
    "0 9 1,15 * *": "At 09:00 on days 1 and 15 of the month",
    "0 9 8-14 * *": "At 09:00 on days 8 through 14 of the month",
    "0 9 */2 * *": "At 09:00 on every 2nd day of the month from day 1",
    "0 9 L * *": "At 09:00 on the last day of the month",
    "0 9 L-1 * *": "At 09:00 on the day before the last day of the month",
    "0 9 L-3 * *": "At 09:00 on the day 3 days before the last day of the month",
    "0 9 LW * *": "At 09:00 on the last weekday (Monday to Friday) of the month",
    "0 9 15W * *": "At 09:00 on the weekday (Monday to Friday) nearest day 15 of the month",
    "0 9 1,L * *": "At 09:00 on day 1 and the last day of the month",
    "0 9 1 1 *": "At 09:00 on 1 January",
    "0 0 29 2 *": "At 00:00 on 29 February",
    "59 59 23 31 12 *": "At 23:59:59 on 31 December",
    "0 0 1-31 * *": "At 00:00 every day",
    "0 0 * * 0-6": "At 00:00 every day",
    "0 0 1-31 * MON": "At 00:00 on days 1 through 31 of the month or on Monday",
    "0 0 * 6-8 *": "At 00:00 every day from June through August",
    "0 0 * 6-8 MON-FRI": "At 00:00 on Monday through Friday from June through August",
    "0 0 31 * *": "At 00:00 on day 31 of the month (months with 31 days)",
    "0 0 1-31 6 *": "At 00:00 every day in June",
    "1-59/2 * * * *": "Every 2 minutes from minute 1 of each hour",
    "1-59/2 9 * * *": "Every 2 minutes from minute 1 of each hour from 09:00 through 09:59",
    "0 22-2 * * *": "Every hour from 22:00 through 02:00",
    "15 23-1 * * *": "Every hour from 23:15 through 01:15",
    "0 9 * 1 *": "At 09:00 every day in January",
    "0 9 1 */3 *": "At 09:00 on day 1 of January, April, July and October",
    "0 9 * NOV-FEB SUN": "At 09:00 on Sunday from November through February",
    "0 9 1 * MON": "At 09:00 on day 1 of the month or on Monday",
    "0 9 1 3,6 MON": "At 09:00 on day 1 of March and June or on Monday in March and June",
    "0 9 1 3 MON#2": "At 09:00 on 1 March or on the second Monday of March",
    "0 9 */2 * MON": "At 09:00 on every 2nd day of the month from day 1, only if it is Monday",
    "* * * * * *": "Every second",
    "*/10 * * * * *": "Every 10 seconds",
    "*/10 * 9-17 * * *": "Every 10 seconds from 09:00 through 17:59",
    "*/10 0,30 * * * *": "Every 10 seconds in minutes 0 and 30 of every hour",
    "5,20 * * * * *": "At 5 and 20 seconds past the minute",
    "30 0 9 * * *": "At 09:00:30 every day",
    "0,30 0 9 * * *": "At 09:00:00 and 09:00:30 every day",
    "0 0 9 * * * 2030": "At 09:00 every day, in 2030",
    "0 0 9 * * * 2030-2032,2040": "At 09:00 every day, in 2030 through 2032 and 2040",
    "@weekly": "At 00:00 on Sunday",
}  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), SENTENCES.items())
def test_an_expression_reads_as_a_sentence(text: str, sentence: str) -> None:
    assert cron.parse_cron(text).describe() == sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0 9 13 * FRI", "At 09:00 on day 13 of the month, only if it is Friday"),
        ("0 9 13 * SAT,SUN", "At 09:00 on day 13 of the month, only if it is Saturday or Sunday"),
        ("0 9 29 5 MON#5", "At 09:00 on 29 May, only if it is the fifth Monday of May"),
    ],
)  # fmt: skip
def test_days_that_must_both_match_do_not_read_as_alternatives(text: str, sentence: str) -> None:
    assert cron.parse_cron(text, day_match=DayMatch.ALL).describe() == sentence


def test_a_hashed_field_reads_as_the_value_it_came_to() -> None:
    quarter = cron.parse_cron("H/15 * * * *", seed="acme/report")

    assert cron.parse_cron("H H * * *", seed="acme/report").describe() == "At 04:12 every day"
    assert quarter.describe() == "Every 15 minutes from minute 12"
