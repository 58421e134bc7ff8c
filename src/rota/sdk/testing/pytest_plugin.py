"""Provides pytest fixtures to test jobs. Needs pytest.

    # conftest.py
    pytest_plugins = ["rota.sdk.testing.pytest_plugin"]

rota_clock        a `Clock` that the test moves
rota_apps         override it: the apps whose submissions are recorded
rota_submitted    the submissions of those apps in this test; nothing is sent
rota_app          override it: the `module:app` that the server's worker serves
rota_server       a real Rota, started once for all tests that use it
"""

from collections.abc import Iterator, Sequence

import pytest

from rota.sdk.app.app import App
from rota.sdk.testing.clock import Clock
from rota.sdk.testing.server import Server, serving
from rota.sdk.testing.submissions import Submissions, recording


@pytest.fixture
def rota_clock() -> Clock:
    return Clock()


@pytest.fixture
def rota_apps() -> Sequence[App]:
    return ()


@pytest.fixture
def rota_submitted(rota_apps: Sequence[App]) -> Iterator[Submissions]:
    with recording(*rota_apps) as submissions:
        yield submissions


@pytest.fixture(scope="session")
def rota_app() -> str | None:
    return None


@pytest.fixture(scope="session")
def rota_server(tmp_path_factory: pytest.TempPathFactory, rota_app: str | None) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("rota"), rota_app) as server:
        yield server
