"""Computes the stable number behind an `H`.

`H` spreads schedules that need "some minute" over the hour. The number depends only on the seed and
the field, so it is the same on every node and in every version. Python's hash() changes with every
process and cannot be used.
"""

from hashlib import blake2b

from rota.core.time.cron.fields import CronField


def stable_number(seed: str, field: CronField) -> int:
    """Return the number for this seed and field; the fields of one schedule are independent."""
    return int.from_bytes(blake2b(f"{field.name}\0{seed}".encode(), digest_size=8).digest())
