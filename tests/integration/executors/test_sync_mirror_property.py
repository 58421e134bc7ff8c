"""After a mirror both trees hold the same files, whatever trees there were (E17)."""

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.storing import result_of, sync, tree_of

from rota.executors.sync import SyncPlace

# Few and mean names, so that files and folders meet: one is the beginning of another, or sorts
# differently with a slash after it.
NAMES = st.sampled_from(["a", "b", "a-", "a.b", "ä", "-", " ", "\n", "A"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
CONTENTS = st.sampled_from([b"", b"x", b"y", b"longer"])
FILES = st.dictionaries(PATHS, st.tuples(CONTENTS, st.integers(0, 3)), max_size=12)


def grow(root: Path, files: dict[str, tuple[bytes, int]]) -> None:
    """As many of the files as can be side by side, each with a time of its own."""
    root.mkdir()
    for path, (content, minute) in files.items():
        whole = root / path
        try:
            whole.parent.mkdir(parents=True, exist_ok=True)
            whole.write_bytes(content)
        except OSError:
            continue
        os.utime(whole, (minute * 60, minute * 60))


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(source=FILES, target=FILES)
def test_after_a_mirror_both_trees_are_equal(
    source: dict[str, tuple[bytes, int]], target: dict[str, tuple[bytes, int]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        here, there = Path(folder, "here"), Path(folder, "there")
        grow(here, source)
        grow(there, target)
        before = tree_of(here)
        places = (
            SyncPlace(name="here", url=f"file://{here}"),
            SyncPlace(name="there", url=f"file://{there}"),
        )
        order: dict[str, Any] = {
            "from_": "here:/",
            "to": "there:/",
            "mode": "mirror",
            "compare": "checksum",
        }

        first = asyncio.run(sync(places, **order, allow_empty=True))
        second = asyncio.run(sync(places, **order, allow_empty=True))

        assert tree_of(here) == before
        assert tree_of(there) == before, first
        assert result_of(second)["copied"] == result_of(second)["deleted"] == 0
