"""`import rota` is light, and its names are where they are said to be (I3)."""

import subprocess
import sys

import pytest

import rota

HEAVY = ("asyncpg", "aiohttp", "starlette", "rich", "urllib3", "msgspec", "asyncio", "cyclopts")


def loaded_by(program: str) -> set[str]:
    """The modules that a fresh process has after running a program."""
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_importing_rota_loads_nothing_heavy() -> None:
    loaded = loaded_by("import rota")

    assert loaded & set(HEAVY) == set()
    assert {name for name in loaded if name.startswith("rota.")} == set()


def test_declaring_jobs_loads_no_driver_and_no_http() -> None:
    program = "import rota\napp = rota.App('x')\n@app.job(cron='0 9 * * *')\ndef f(): ..."
    loaded = loaded_by(program)

    assert loaded & {"asyncpg", "aiohttp", "starlette", "rich", "urllib3", "cyclopts"} == set()


@pytest.mark.parametrize("name", rota.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(rota, name) is not None
    assert name in dir(rota)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'rota' has no attribute 'nope'"):
        rota.nope  # noqa: B018


def test_the_testing_kit_can_be_imported_as_a_module() -> None:
    from rota.testing import RecordingContext  # noqa: PLC0415

    assert RecordingContext is rota.testing.RecordingContext
