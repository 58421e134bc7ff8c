"""How often Python looks for cyclic garbage. Room: runtime.

A worker at full speed makes and drops some hundred thousand small containers a second, none of them
in cycles. With the default threshold of 700 the collector would run hundreds of times a second for
nothing.
"""

import gc

YOUNG = 50_000
MIDDLE = 20
OLD = 50


def relax_collector() -> None:
    """For a process that has imported what it needs: keep that out of collections, and wait."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
