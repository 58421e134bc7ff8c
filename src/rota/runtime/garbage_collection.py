"""Sets how often Python looks for cyclic garbage.

A worker at full speed creates and drops several hundred thousand small containers per second, none
of them in cycles. With the default threshold of 700 the collector would run hundreds of times a
second for nothing.
"""

import gc

YOUNG_THRESHOLD = 50_000
MIDDLE_THRESHOLD = 20
OLD_THRESHOLD = 50


def relax_collector() -> None:
    """Exclude everything imported so far from collections, and collect rarely."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_THRESHOLD, MIDDLE_THRESHOLD, OLD_THRESHOLD)
