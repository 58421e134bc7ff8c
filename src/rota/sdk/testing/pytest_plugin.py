"""Fixtures for people who test their jobs with pytest. Room: sdk/testing; needs pytest.

    # conftest.py
    pytest_plugins = ["rota.sdk.testing.pytest_plugin"]

rota_clock        a `Clock` that the test moves
rota_apps         yours to override: the apps whose submissions are written down
rota_submitted    what those apps submit in this test; nothing is sent
rota_app          yours to override: `module:app` that the server's worker serves
rota_server       a real Rota, started once for all tests that ask for it
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
