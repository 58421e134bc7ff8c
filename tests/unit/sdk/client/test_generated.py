"""What is rendered from the catalogue fits it, and costs little to import. Proves a part of I3."""

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

import rota
from rota.api import resources
from rota.api.operations import catalogue
from rota.sdk.client import AsyncClient, Client

resources.load_operations()
OPERATIONS = catalogue.operations
ENDINGS = ("_at", "_time", "_seen", "_since")
# The callers of hooks and pings have no key.
NAMES = [each.name for each in OPERATIONS if not each.is_hook]


@pytest.mark.parametrize("name", NAMES)
def test_every_operation_is_a_method_of_both_clients(name: str) -> None:
    for client in (Client, AsyncClient):
        method = getattr(client, name, None)
        assert method is not None, "run `make generate`"
        assert inspect.getdoc(method)
        assert next(iter(inspect.signature(method).parameters)) == "self"


def test_a_method_of_a_client_shows_its_arguments_and_its_words() -> None:
    with Client("http://127.0.0.1:1", "key") as client:
        assert list(inspect.signature(client.get_job).parameters) == ["job_id"]
        assert inspect.getdoc(client.get_job) == inspect.getdoc(Client.get_job)
        assert client.get_job.__name__ == "get_job"


def test_times_in_answers_are_times() -> None:
    """They are recognised by their names; what a schedule says is as somebody wrote it."""
    left = {
        f"{shape.__name__}.{field.name}"
        for shape in shapes()
        for field in msgspec.structs.fields(shape)
        if field.name.endswith(ENDINGS) and "datetime" not in str(field.type)
    }

    assert left == {"JobView.schedule_time"}


def shapes() -> list[Any]:
    from rota.sdk.client.generated import schemas as module  # noqa: PLC0415 — as a module

    return [
        each
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, msgspec.Struct)
    ]


def test_types_reach_the_people_who_import_them() -> None:
    assert Path(rota.__file__).with_name("py.typed").exists()


def test_the_blocking_client_brings_no_asyncio_library_and_nothing_of_the_server() -> None:
    program = (
        "import sys, rota.sdk.client\n"
        "heavy = {'aiohttp', 'asyncpg', 'starlette', 'uvicorn', 'rich', 'rota.api', 'rota.store'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert done.stdout == b"[]\n"
