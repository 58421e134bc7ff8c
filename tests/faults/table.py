"""The fault table as text, one line for each fault."""

from collections import Counter
from collections.abc import Sequence

from tests.faults.figures import Figures

HEADINGS = (
    *("Fault", "acked", "lost", "ticks", "AMO twice", "AMO lost", "restarted", "repeated"),
    *("overlaps", "submit back", "ticks back", "Processes that ended", "The client saw"),
)
FINE = frozenset({"200", "201"})


def render_table(rows: Sequence[tuple[str, Figures]]) -> str:
    """A Markdown table: `AMO lost` has in brackets those whose handler had come to its end."""
    lines = [HEADINGS, tuple("---" for _ in HEADINGS)]
    lines += [render_row(title, figures) for title, figures in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def render_row(title: str, figures: Figures) -> tuple[str, ...]:
    return (
        title,
        f"{figures.acknowledged:,}",
        str(figures.lost),
        f"{figures.tick_holes}/{figures.tick_doubles}",
        str(figures.at_most_once_twice),
        f"{figures.at_most_once_lost} ({figures.at_most_once_discarded})",
        str(figures.restarted),
        str(figures.repeated),
        f"{figures.overlaps_at_most_once}/{figures.overlaps_exclusive}/{figures.overlaps_other}",
        "no gap" if not figures.submit_back_s else f"{figures.submit_back_s:.1f}",
        f"{figures.ticks_back_s:.1f}",
        render_exits(figures.exits),
        render_answers(figures.answers),
    )


def render_exits(exits: Sequence[tuple[str, int, float]]) -> str:
    if not exits:
        return "none"
    first = {name: (code, at) for name, code, at in reversed(exits)}
    counts = Counter(name for name, _, _ in exits)
    return ", ".join(
        f"{name} at {at} ({code})" + (f" and {counts[name] - 1} more" if counts[name] > 1 else "")
        for name, (code, at) in first.items()
    )


def render_answers(answers: dict[str, int]) -> str:
    bad = {said: count for said, count in answers.items() if said not in FINE}
    return ", ".join(f"{count} × {said}" for said, count in sorted(bad.items())) or "nothing"
