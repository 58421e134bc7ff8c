"""The checker has power: the engine as it is keeps every promise in a storm, and each deliberate
breakage of one of its rules is noticed (E1, E2, E3, E4, E7, E11, E12, O3).
"""

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from rota.store.embedded import Embedded
from tests.chaos.mutations import MUTATIONS, Mutation
from tests.support.databases import clone_url, drop

ROOT = Path(__file__).parents[2]
SECONDS = 3.0
# Chance may spare a mutation once. What four storms do not find counts as not found.
SEEDS = (1, 2, 3, 4)
LIMIT = 60.0


async def storm(server: Embedded, source: Path, seed: int, *, late: bool) -> dict[str, Any]:
    """Let the code in `source` go through a storm on a database of its own."""
    url = await clone_url(server.url)
    words = ["-m", "tests.chaos.storm", url, str(seed), str(SECONDS), *(["late"] if late else [])]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *words,
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{source}{os.pathsep}{ROOT}"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(LIMIT):
            said, complaint = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        await drop(server.url, url)
    assert process.returncode == 0, complaint.decode()
    return dict(json.loads(said))


def broken_copy(mutation: Mutation, folder: Path) -> Path:
    source = folder / "src"
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
    for edit in mutation.edits:
        edit.apply(source)
    return source


@pytest.mark.parametrize("seed", SEEDS[:3])
async def test_the_engine_keeps_its_promises_in_a_storm(seed: int, server: Embedded) -> None:
    found = await storm(server, ROOT / "src", seed, late=True)

    assert found["violated"] == [], "\n".join(found["verdict"])
    assert found["surprises"] == []
    assert found["counts"]["deadlocks"] == 0
    # It was a storm: leases were lost, and late schedulers and workers were refused.
    for what in ("kills", "sessions lost", "ticks refused", "endings refused", "runs reclaimed"):
        assert found["counts"].get(what, 0) > 0, found["counts"]


# Each takes ten seconds or so: `make test` tries every second one, `make test-chaos` all of them.
TRIED = MUTATIONS if "ROTA_TEST_CHAOS" in os.environ else MUTATIONS[::2]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_every_rule_can_still_be_broken(mutation: Mutation, tmp_path: Path) -> None:
    assert broken_copy(mutation, tmp_path).is_dir()


@pytest.mark.parametrize("mutation", TRIED, ids=lambda mutation: mutation.name)
async def test_a_broken_rule_is_noticed(
    mutation: Mutation, server: Embedded, tmp_path: Path
) -> None:
    source = broken_copy(mutation, tmp_path)

    noticed: set[str] = set()
    for seed in SEEDS:
        found = await storm(server, source, seed, late=mutation.needs_late)
        noticed |= set(found["violated"])
        if noticed & mutation.caught_by:
            break

    assert noticed & mutation.caught_by, f"violated in {len(SEEDS)} storms: {sorted(noticed)}"


def test_every_mutation_is_another_one() -> None:
    edits = {mutation.edits for mutation in MUTATIONS}
    names = {mutation.name for mutation in MUTATIONS}

    assert len(edits) == len(names) == len(MUTATIONS) >= 14
