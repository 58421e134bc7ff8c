"""The stable number behind an `H`.

Room: core/time/cron. Spreads schedules that only say "some minute" over the hour. The number
depends on the seed and the field alone: the same on every node, in every version, for ever.
Python's own hash() changes with every process and is no use here.
"""

from hashlib import blake2b

from rota.core.time.cron.fields import Field


def stable_number(seed: str, field: Field) -> int:
    """A number for this seed and field; distinct fields of one schedule do not move together."""
    return int.from_bytes(blake2b(f"{field.name}\0{seed}".encode(), digest_size=8).digest())
