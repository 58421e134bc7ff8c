"""The fixture `rota_server`; docs/howto/test-your-jobs.md, which the tests run, has the rest."""

import psycopg
import pytest
from tests.support import greetings
from tests.support.shop import CLOCK

import rota
from rota.testing import Server, ServerNotStarted, serving

pytest_plugins = ["rota.testing.pytest_plugin"]


@pytest.fixture(scope="session")
def rota_app() -> str:
    return "tests.support.greetings:app"


def test_a_job_in_a_transaction_on_its_database_is_carried_out(rota_server: Server) -> None:
    with rota_server.client() as client, psycopg.connect(rota_server.database_url) as conn:
        made = rota.in_transaction(conn).submit(greetings.greet, "anna")
        conn.commit()
        end = CLOCK.monotonic() + 30
        while (run := client.get_run(str(made.run_id))).status != "succeeded":
            assert CLOCK.monotonic() < end, run

    assert run.result == "hello anna"


def test_an_app_that_cannot_be_found_is_told(rota_server: Server) -> None:
    with (
        pytest.raises(ServerNotStarted, match="No module named 'nowhere'"),
        serving(rota_server.folder, "nowhere:app"),
    ):
        pass
