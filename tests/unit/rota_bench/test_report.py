"""What people see of a benchmark: the table and the picture."""

from xml.etree import ElementTree as ET

from rota_bench.measures import MEASURES
from rota_bench.plot import AXIS, LABELS, WIDTH, draw_svg
from rota_bench.report import render_report

SVG = "{http://www.w3.org/2000/svg}"
FIGURES = {
    "drain_runs_per_s": 52_000.0,
    "in_flight": 500.0,
    "fire_lag_ms.100.p50": 1.5,
    "fire_lag_ms.100.p99": 15.0,
    "fire_lag_ms.100.max": 150.0,
    "herd_10000_s": 1.25,
}


def test_the_table_shows_target_figure_and_verdict_of_what_was_measured() -> None:
    lines = render_report(FIGURES).splitlines()

    assert lines[0].split() == ["measure", "target", "measured", "met"]
    assert len(lines) == 2 + len(FIGURES)
    drained = next(line for line in lines if line.startswith("draining a backlog"))
    assert drained.split()[3:] == ["≥", "40,000", "runs/s", "52,000", "runs/s", "yes"]
    flying = next(line for line in lines if line.startswith("runs in flight"))
    assert flying.endswith("500 runs   no")
    longest = next(line for line in lines if "longest" in line)
    assert longest.endswith("150 ms")


def test_a_table_of_nothing_has_its_headings() -> None:
    assert render_report({}).splitlines()[0].split() == ["measure", "target", "measured", "met"]


def test_the_picture_is_well_formed_whatever_was_measured() -> None:
    everything = {measure.key: 3.0 for measure in MEASURES}
    for figures in ({}, FIGURES, everything, dict.fromkeys(FIGURES, 0.0)):
        drawn = ET.fromstring(draw_svg(figures, title="a < b & c", note='"quoted"'))

        assert drawn.tag == f"{SVG}svg"
        assert drawn.findtext(f"{SVG}title") == "a < b & c"


def test_the_picture_puts_ten_times_as_long_one_decade_further() -> None:
    drawn = ET.fromstring(draw_svg(FIGURES, title="", note=""))

    circles = drawn.iter(f"{SVG}circle")
    dots = {circle.findtext(f"{SVG}title"): float(circle.attrib["cx"]) for circle in circles}
    p50, p99, longest = dots["p50 1.5 ms"], dots["p99 15 ms"], dots["max 150 ms"]
    assert LABELS <= p50 < p99 < longest <= LABELS + AXIS
    assert abs((longest - p99) - (p99 - p50)) < 0.5


def test_a_bar_that_meets_its_target_reaches_the_line() -> None:
    drawn = ET.fromstring(draw_svg(FIGURES, title="", note=""))

    bars = [rect for rect in drawn.iter(f"{SVG}rect") if "x" in rect.attrib]
    ends = [LABELS + float(bar.attrib["width"]) for bar in bars]
    target = float(next(drawn.iter(f"{SVG}line")).attrib["x1"])
    drained, flying = ends
    assert flying < target < drained < WIDTH
