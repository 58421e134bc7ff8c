"""What an attack is, what it found, and the list of all of them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.attack.target import Target


@dataclass(kw_only=True)
class Findings:
    """What one attack tried, what got through, and figures worth a line."""

    tried: int = 0
    broken: list[str] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)

    def expect(self, held: bool, otherwise: str) -> None:
        """Count one attempt. `otherwise` says what got through if it did not hold."""
        self.tried += 1
        if not held:
            self.broken.append(otherwise)


Run = Callable[["Target", Findings], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Attack:
    name: str
    title: str
    run: Run


ATTACKS: dict[str, Attack] = {}


def attack(name: str) -> Callable[[Run], Run]:
    """Register the decorated function; the first line of its docstring is the title."""

    def register(run: Run) -> Run:
        title = (run.__doc__ or "").strip().splitlines()[0].rstrip(".")
        ATTACKS[name] = Attack(name=name, title=title, run=run)
        return run

    return register
