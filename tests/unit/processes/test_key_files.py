"""The master key: who makes it, who only reads it, and what is said if it cannot be read (5.6)."""

from pathlib import Path

import pytest

from rota.config.database import DatabaseSettings
from rota.config.settings import ApiSettings, Settings
from rota.core.errors import InvalidSetting, SecretsUnavailable
from rota.processes.key_files import MASTER_FILE, ensure_master_key, read_master_key


def test_the_api_makes_a_key_beside_the_embedded_database_and_the_worker_finds_it(
    tmp_path: Path,
) -> None:
    settings = Settings(database=DatabaseSettings(data=tmp_path / "data"))

    before = read_master_key(settings)
    made = ensure_master_key(settings)

    assert before is None
    assert made is not None
    assert len(made) == 32
    assert read_master_key(settings) == ensure_master_key(settings) == made
    assert (tmp_path / "data" / MASTER_FILE).stat().st_mode & 0o777 == 0o600


def test_a_database_of_somebody_elses_has_no_key_unless_it_is_given(tmp_path: Path) -> None:
    database = DatabaseSettings(url="postgresql://db.example/rota", data=tmp_path)
    file = tmp_path / "given.key"
    file.write_text(f"{'ab' * 32}\n")

    without, given = (
        Settings(database=database),
        Settings(database=database, api=ApiSettings(master_key=file)),
    )

    assert (ensure_master_key(without), read_master_key(without)) == (None, None)
    assert ensure_master_key(given) == read_master_key(given) == bytes.fromhex("ab" * 32)


@pytest.mark.parametrize("text", ["", "ab", "ab" * 31, "ab" * 33, "not hexadecimal"])
def test_a_file_that_holds_no_key_stops_the_api_and_fails_only_attempts_of_a_worker(
    tmp_path: Path, text: str
) -> None:
    file = tmp_path / "master.key"
    file.write_text(text)
    settings = Settings(api=ApiSettings(master_key=file))

    with pytest.raises(InvalidSetting, match=r"api\.master_key"):
        ensure_master_key(settings)
    with pytest.raises(SecretsUnavailable, match="cannot read its master key"):
        read_master_key(settings)
