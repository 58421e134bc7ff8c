"""The text format of Prometheus, written so that a strict reader takes it (O5)."""

import pytest
from tests.support.scraping import scrape, value_of

from rota.engine.observability.exposition import (
    RUN_BUCKETS_S,
    Histogram,
    HistogramSeries,
    MetricFamily,
    MetricType,
    Sample,
    build_gauge,
    build_gauges,
    format_number,
    render_families,
)


def test_a_page_is_help_type_and_series() -> None:
    page = render_families([build_gauge("rota_workers", "Live workers.", 3)])

    assert page == "# HELP rota_workers Live workers.\n# TYPE rota_workers gauge\nrota_workers 3\n"


@pytest.mark.parametrize(
    "queue", ['a"b', "a\\b", "a\nb", "\\n", 'x",evil="1', "}", "", "größe 日本", "a,b=c", '\\"']
)
def test_any_label_comes_out_as_it_went_in(queue: str) -> None:
    page = render_families(
        [build_gauges("rota_runs_waiting", "Runs\nthat wait \\.", "queue", {queue: 1})]
    )

    assert scrape(page) == {("rota_runs_waiting", (("queue", queue),)): 1.0}
    assert len(page.split("\n")) == 4


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0, "0"),
        (3.0, "3"),
        (True, "1"),
        (0.25, "0.25"),
        (1e-7, "1e-07"),
        (-2, "-2"),
        (1e300, "1e+300"),
        (float("inf"), "+Inf"),
        (float("-inf"), "-Inf"),
        (float("nan"), "NaN"),
    ],
)
def test_numbers_are_written_as_prometheus_reads_them(value: float, written: str) -> None:
    assert format_number(value) == written


def test_a_histogram_is_cumulative_and_counts_its_bounds_in() -> None:
    histogram = Histogram(bounds=(0.1, 1.0))
    for value in (0.05, 0.1, 0.5, 1.0, 7.0):
        histogram.observe(value)
    histogram.observe(2.0, times=3)
    family = MetricFamily(
        name="rota_x_seconds",
        metric_type=MetricType.HISTOGRAM,
        help_text="X.",
        samples=histogram.samples(),
    )

    page = render_families([family])

    buckets = [value_of(page, "rota_x_seconds_bucket", le=le) for le in ("0.1", "1", "+Inf")]
    assert buckets == [2, 4, 8]
    assert value_of(page, "rota_x_seconds_count") == 8
    assert value_of(page, "rota_x_seconds_sum") == pytest.approx(14.65)


def test_bounds_that_do_not_rise_are_refused() -> None:
    with pytest.raises(ValueError, match="strictly increasing"):
        Histogram(bounds=(1.0, 1.0))


@pytest.mark.parametrize(
    ("name", "sort"),
    [
        ("rota_fires", MetricType.COUNTER),
        ("rota_fires_total", MetricType.GAUGE),
        ("rota fires", MetricType.GAUGE),
        ("1rota", MetricType.GAUGE),
        ("rota_é", MetricType.GAUGE),
        ("", MetricType.GAUGE),
    ],
)
def test_a_name_against_the_conventions_is_refused(name: str, sort: MetricType) -> None:
    with pytest.raises(ValueError, match=r"invalid metric name|_total"):
        MetricFamily(name=name, metric_type=sort, help_text="", samples=[Sample(1)])


@pytest.mark.parametrize("number", [0, 1, 31, 32, 500])
def test_a_batch_counts_like_its_values_one_by_one(number: int) -> None:
    values = [bound * factor for bound in RUN_BUCKETS_S for factor in (0.5, 1, 1.0001)]
    values = [*values, 1e9, 0.0, -1.0] * (1 + number // 50)
    one_by_one, batch = Histogram(), Histogram()
    for value in values[:number]:
        one_by_one.observe(value)
    batch.observe_all(values[:number])

    assert batch.counts == one_by_one.counts
    assert batch.total == pytest.approx(one_by_one.total)


def test_series_of_a_histogram_are_copied_whole() -> None:
    series = HistogramSeries(("queue",))
    series.find("mail").observe(3)
    copied = series.copy()
    series.find("mail").observe(4)

    assert copied.samples()[-1].value == 1
    assert series.samples()[-1].value == 2
