"""Processes whose clock is off: libfaketime shifts wall time and leaves monotonic time alone."""

from pathlib import Path

PLACES = ("usr/lib/*/faketime/libfaketimeMT.so.1", "usr/lib*/faketime/libfaketimeMT.so.1")


def find_faketime() -> Path | None:
    """The library for programs with threads, where Debian and others put it."""
    return next((found for each in PLACES for found in Path("/").glob(each)), None)


def shift_clock(by: str) -> dict[str, str]:
    """Variables that shift the clock of a process, as in +1h; empty without libfaketime."""
    library = find_faketime()
    if library is None:
        return {}
    return {
        "LD_PRELOAD": str(library),
        "FAKETIME": by,
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
