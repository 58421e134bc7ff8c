"""Orders waiting runs by priority with ageing (E5), so that low priority never starves.

There are ten priorities; 0 is first. A run rises one step for every `AGE_STEP` it has waited, which
is the same as ordering by (ready time + priority × step). This key never has to be updated while a
run waits.
"""

from datetime import datetime, timedelta
from typing import Final

from rota.core.errors import InvalidInput

PRIORITY_FIRST: Final = 0
PRIORITY_LAST: Final = 9
PRIORITY_NAMES: Final = {"high": 1, "medium": 5, "normal": 5, "low": 9}
DEFAULT_PRIORITY: Final = PRIORITY_NAMES["normal"]
AGE_STEP: Final = timedelta(minutes=10)


def parse_priority(value: str | int) -> int:
    """Parse a name, or a number from 0 (first) to 9 (last)."""
    number = PRIORITY_NAMES.get(value.strip().lower()) if isinstance(value, str) else value
    if number is None or isinstance(number, bool) or not PRIORITY_FIRST <= number <= PRIORITY_LAST:
        wanted = "expected 'high', 'normal', 'low', or a number from 0 to 9"
        raise InvalidInput("priority", value, wanted)
    return number


def compute_rank(priority: int, ready_at: datetime) -> datetime:
    """Return the sort key among one tenant's waiting runs: smaller is first."""
    return ready_at + priority * AGE_STEP
