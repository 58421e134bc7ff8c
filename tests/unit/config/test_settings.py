"""The settings themselves and their reference page."""

from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from tools.reference.settings_page import render_settings

from rota.config.fields import FIELDS, spell_duration, spell_value
from rota.config.loader import load_settings
from rota.config.settings import Settings, find_contradictions

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "settings.md"


def test_the_reference_page_is_the_one_that_the_settings_make():
    assert PAGE.read_text() == render_settings(), "run `make generate`"


@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS)
def test_every_setting_is_explained_on_the_page(field):
    page = render_settings()

    assert f"`{field.path}`<br>`{field.variable}`" in page
    assert len(field.meaning) > 10
    assert field.meaning in page


@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS)
def test_every_default_is_accepted_when_it_is_written_out(field, tmp_path: Path):
    if field.default is None:
        files = {"api.tls_certificate", "api.tls_key", "api.master_key", "database.binaries"}
        files |= {"executors.data_folder", "executors.etl_folder"}
        others = {"database.url", "executors.shell_user", "traces.endpoint"}
        others |= {"heartbeat.url", "alerts.public_url"}
        assert field.path in others | files
        return
    file = tmp_path / "rota.toml"
    file.write_text(f"{field.path} = {spell_value(field.default)}")

    assert load_settings(environment={}, file=file, default_files=()) == Settings()


def test_the_defaults_do_not_contradict_each_other():
    assert list(find_contradictions(Settings())) == []


def test_the_timers_are_those_of_the_protocol():
    """reliability.md 3.2: TTL, renewal and the moment to stop acting."""
    scheduler, worker = Settings().scheduler, Settings().worker

    assert [t.total_seconds() for t in (scheduler.lease, scheduler.renew_every)] == [6, 2]
    assert scheduler.stop_after.total_seconds() == 4
    assert [t.total_seconds() for t in (worker.lease, worker.beat_every)] == [10, 2]
    assert worker.stop_after.total_seconds() == 7


def test_settings_cannot_be_changed_and_refuse_unknown_names():
    with pytest.raises(AttributeError):
        Settings().worker.slots = 5  # type: ignore[misc]
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        msgspec.convert({"worker": {"slot": 5}}, Settings)


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (timedelta(days=30), "30d"),
        (timedelta(hours=36), "36h"),
        (timedelta(seconds=90), "90s"),
        (timedelta(milliseconds=1500), "1500ms"),
        (timedelta(), "0ms"),
    ],
)
def test_a_duration_is_written_in_its_largest_whole_unit(length: timedelta, text: str):
    assert spell_duration(length) == text
