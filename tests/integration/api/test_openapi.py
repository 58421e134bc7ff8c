"""The document is equal to the behaviour: schemathesis sends what it says, and what it forbids."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from tests.conftest import fast_folder
from tests.support.serving import Served

from rota.contract.document_fields import DOCUMENT_STRUCTS

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
# Together they are all operations but the two endless streams, and more than 20,000 requests; each
# group has an API of its own.
GROUPS: dict[str, tuple[int, tuple[str, ...]]] = {
    "jobs": (6_000, ("jobs", "schedules", "jobs as code")),
    "runs": (3_300, ("runs", "graphs", "dead letters")),
    "tenants": (5_200, ("tenants", "users", "keys", "secrets", "calendars")),
    "rest": (4_200, ("queues", "cluster", "tasks", "audit", "statistics", "backfills", "service")),
    "events": (1_700, ("events", "hooks")),
    "webhooks": (1_000, ("webhooks",)),
    "alerts": (2_000, ("expectations", "routes", "incidents", "pings")),
}
# How many each operation gets: of requests that may be wrong, and of right ones, which cost a third
# to think of. What is wrong at the edges comes from the phase "coverage" besides.
EXAMPLES = {
    "jobs": (25, 90),
    "runs": (25, 60),
    "tenants": (40, 220),
    "rest": (35, 190),
    "events": (30, 130),
    "webhooks": (20, 60),
    "alerts": (20, 60),
}
# The shapes of requests whose schedule or calendar is tried in full.
IN_FULL = ("PreviewDraft", "CalendarDraft")
LONGEST = 600
GENERATED = re.compile(r"^\s+(\d+) generated", re.MULTILINE)


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the server's own user can pass through, unlike pytest's own."""
    made = Path(tempfile.mkdtemp(prefix="api-", dir=fast_folder(tmp_path_factory)))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


@contextmanager
def a_process(folder: Path) -> Iterator[tuple[str, str]]:
    """`rota api` as everybody starts it, with a database of its own; its URL and its first key."""
    environment = {
        "ROTA_API__PORT": "0",
        "ROTA_API__REQUESTS_PER_SECOND": "1000000",
        "ROTA_API__BURST": "1000000",
        "ROTA_API__UNKNOWN_PER_SECOND": "1000000",
        "PATH": "/usr/bin:/bin",
    }
    log = (folder / "api.log").open("wb")
    process = subprocess.Popen(
        [BIN / "rota", "api"], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=log
    )
    try:
        assert process.stdout is not None
        first = process.stdout.readline().decode()
        url = re.search(r"http://\S+:\d+", first)
        assert url is not None, first
        yield url[0], (folder / ".rota" / "admin.key").read_text().strip()
    finally:
        process.terminate()
        process.communicate(timeout=30)
        log.close()


@pytest.mark.timeout(LONGEST)
@pytest.mark.parametrize("group", GROUPS)
def test_every_operation_behaves_as_its_document_says(folder: Path, group: str) -> None:
    least, tags = GROUPS[group]
    any_, right = EXAMPLES[group]
    with a_process(folder) as (url, key):
        words = [
            *(document_of(folder, url), "--url", url),
            *("-H", f"Authorization: Bearer {key}", "--no-color"),
            *("--checks", "all", "--generation-deterministic"),
            *(word for tag in tags for word in ("--include-tag", tag)),
        ]
        sent = requests_of(folder, [*words, "--phases", "examples,coverage,fuzzing"], any_)
        sent += requests_of(folder, [*words, "--phases", "fuzzing", "--mode", "positive"], right)

    assert sent >= least, sent


def document_of(folder: Path, url: str) -> str:
    """The document, in a file. Schedules, graphs and calendars have some hundred fields, each of
    which gets requests of its own: those are sent by one operation for schedules and one for
    calendars, and the others get any object.
    """
    with urlopen(f"{url}/v1/openapi.json") as answer:
        document = json.load(answer)
    shapes = document["components"]["schemas"]
    names = [each.__name__ for each in DOCUMENT_STRUCTS]
    for name, shape in shapes.items():
        if name not in {*names, *IN_FULL}:
            shapes[name] = as_any_object(shape, {f"#/components/schemas/{each}" for each in names})
    file = folder / "openapi.json"
    file.write_text(json.dumps(document))
    return str(file)


def as_any_object(schema: Any, refs: set[str]) -> Any:
    if isinstance(schema, list):
        return [as_any_object(each, refs) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("$ref") in refs:
        return {"type": "object"}
    return {key: as_any_object(value, refs) for key, value in schema.items()}


def requests_of(folder: Path, words: list[str], examples: int) -> int:
    """Let schemathesis try; how many requests it sent."""
    done = subprocess.run(
        [
            *(BIN / "schemathesis", "--config-file", HERE / "schemathesis.toml", "run"),
            *(*words, "--max-examples", str(examples)),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST,
    )
    said = (folder / "api.log").read_text(errors="replace")
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-2000:]}\n{said[-3000:]}"
    found = GENERATED.search(done.stdout)
    assert found is not None, done.stdout[-2000:]
    return int(found[1])


async def test_every_operation_is_in_one_of_the_groups(api: Served) -> None:
    document = (await api.stranger().get("/v1/openapi.json")).json
    tried = {tag for _, tags in GROUPS.values() for tag in tags}
    tags = {
        tag for path in document["paths"].values() for each in path.values() for tag in each["tags"]
    }

    assert tags - tried == {"feed"}


async def test_the_document_names_every_operation_once_and_describes_it(api: Served) -> None:
    document = (await api.stranger().get("/v1/openapi.json")).json
    operations: list[Any] = [each for path in document["paths"].values() for each in path.values()]
    names = [each["operationId"] for each in operations]

    assert document["openapi"] == "3.1.0"
    assert len(names) == len(set(names)) > 60
    assert all(each["summary"] and each["responses"] for each in operations)
