"""The upkeep that any node may do: rescue, deadlines, ended jobs, old rows, days. Room: node.

None of it needs a lease: each statement takes what is there and skips what another node is at.
"""

from collections.abc import Callable

from rota.config.settings import Retention
from rota.flow.record.keeping_days import KeepingDays
from rota.flow.record.marking_ended import MarkingEnded
from rota.flow.record.pruning import Pruning
from rota.flow.record.rescuing import Expiring, Rescuing
from rota.runtime.pulse import Pulse
from rota.runtime.service import Duty, Ground
from rota.store.driver import Pool


def upkeep(
    retention: Retention, pool: Pool, ground: Ground, *, freed: Callable[[], object]
) -> list[Duty]:
    """The duties; `freed` is called when runs wait again that nobody executes."""
    days = KeepingDays(pool=pool, ahead=retention.partitions_ahead, keep=retention.runs)
    rescuing = Rescuing(source=pool, freed=freed, emit=ground.emit)
    expiring = Expiring(source=pool, emit=ground.emit)
    pruning = Pruning(source=pool)
    return [
        Duty("rescuing", rescuing.tick, Pulse(), ground),
        Duty("expiring", expiring.tick, Pulse(), ground),
        Duty("marking ended jobs", MarkingEnded(source=pool).tick, Pulse(), ground),
        Duty("pruning", pruning.tick, Pulse(), ground),
        Duty("keeping days", days.tick, Pulse(), ground),
    ]
