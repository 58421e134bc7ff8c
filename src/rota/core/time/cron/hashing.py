"""Computes the stable number behind an `H`.

`H` spreads schedules that need "some minute" over the hour. The number depends only on the seed and
the field, so it is the same on every node and in every version. Python's hash() changes with every
process and cannot be used.
"""

import re
from hashlib import blake2b
from typing import Final

from rota.core.time.cron.fields import CronField

# An H at the start of a field or of a part of it; elsewhere H is part of a day or month name.
HASH_FIELD_PATTERN: Final = re.compile(r"(?:^|[\s,])H", re.IGNORECASE)


def stable_number(seed: str, field: CronField) -> int:
    """Return the number for this seed and field; the fields of one schedule are independent."""
    return int.from_bytes(blake2b(f"{field.name}\0{seed}".encode(), digest_size=8).digest())


def uses_hash(text: str) -> bool:
    """Return whether a cron expression has an `H`, so that its times depend on the seed."""
    return HASH_FIELD_PATTERN.search(text) is not None
