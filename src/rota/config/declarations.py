"""Builds the metadata of a setting: bounds, allowed values and meaning."""

from datetime import timedelta
from typing import Annotated, Any

from msgspec import Meta

MILLISECOND = timedelta(milliseconds=1)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
# The value of "forever" in a duration that allows it.
FOREVER = timedelta.max


TENANT_LIST = 'a list of tenant names, or ["*"] for all'
TENANTS_MAX = 1000
TenantNames = tuple[Annotated[str, Meta(min_length=1, max_length=200)], ...]


def number(minimum: int, maximum: int, meaning: str) -> Meta:
    return Meta(ge=minimum, le=maximum, description=meaning)


def span(shortest: timedelta, longest: timedelta, meaning: str, *, forever: bool = False) -> Meta:
    """Declare a duration. msgspec has no bounds for durations, so they travel in `extra`.

    With `forever`, the word "forever" is allowed too and is read as `FOREVER`.
    """
    extra = {"shortest": shortest, "longest": longest, "forever": forever}
    return Meta(description=meaning, extra=extra)


def choice(meaning: str) -> Meta:
    return Meta(description=meaning)


def text(wanted: str, meaning: str, *, secret: bool = False, **bounds: Any) -> Meta:
    """Declare a text. `wanted` completes the sentence "must be …". A secret is never shown."""
    return Meta(description=meaning, extra={"wanted": wanted, "secret": secret}, **bounds)


def tenant_list(meaning: str) -> Meta:
    """Declare a list of tenants; `meaning` says what they may use."""
    return text(TENANT_LIST, f"{meaning} Default: the default tenant only.", max_length=TENANTS_MAX)
