"""Where the client looks for the API and its key. Proves a part of I3."""

import os
from pathlib import Path

import pytest

from rota.config.loader import load_settings
from rota.config.settings import Settings
from rota.core.errors import InvalidInput
from rota.runtime.address_file import publish_address
from rota.sdk.client.discovery import find_endpoint


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where nobody has started a server."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def key_file(folder: Path, text: str = "rota_abc_def\n") -> None:
    folder.mkdir(parents=True)
    (folder / "admin.key").write_text(text)


def test_what_is_given_wins_over_the_variables() -> None:
    said = {"ROTA_URL": "http://there:1", "ROTA_API_KEY": "theirs"}

    place = find_endpoint("http://here:2/", "mine", environment=said)

    assert (place.url, place.key) == ("http://here:2", "mine")


def test_the_variables_win_over_what_lies_around(elsewhere: Path) -> None:
    key_file(elsewhere / ".rota")

    place = find_endpoint(
        None, None, environment={"ROTA_URL": "https://there", "ROTA_API_KEY": "theirs"}
    )

    assert (place.url, place.key) == ("https://there", "theirs")


def test_without_anything_it_is_the_server_that_rota_up_starts_here(elsewhere: Path) -> None:
    key_file(elsewhere / ".rota")

    place = find_endpoint(None, None, environment={})

    assert (place.url, place.key) == ("http://127.0.0.1:7070", "rota_abc_def")


def test_the_data_folder_may_be_elsewhere(elsewhere: Path) -> None:
    key_file(elsewhere / "data")

    assert find_endpoint(None, None, environment={"ROTA_DATA": "data"}).key == "rota_abc_def"


@pytest.mark.parametrize("url", ["https://rota.example.com", "http://10.0.0.7:7070"])
def test_the_key_of_this_machine_is_not_sent_to_another(elsewhere: Path, url: str) -> None:
    key_file(elsewhere / ".rota")

    place = find_endpoint(url, None, environment={})

    assert place.key is None
    assert "no key was found" in place.hint


@pytest.mark.parametrize("url", ["http://localhost:1", "http://127.0.0.9:1", "http://[::1]:1"])
def test_this_machine_has_several_names(elsewhere: Path, url: str) -> None:
    key_file(elsewhere / ".rota")

    assert find_endpoint(url, None, environment={}).key == "rota_abc_def"


def test_a_key_file_that_is_no_key_counts_as_none(elsewhere: Path) -> None:
    key_file(elsewhere / ".rota", "two words\nand lines\n")

    place = find_endpoint(None, None, environment={})

    assert place.key is None
    assert place.hint == (
        "no key was found: no key= was given, ROTA_API_KEY is not set, "
        f"{elsewhere}/.rota/admin.key holds no key"
    )


@pytest.mark.parametrize(
    "url", ["localhost:7070", "ftp://there", "http://", "http://there:99999", "http://a/b?c=d", " "]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match=r"url: .* an address such as"):
        find_endpoint(url, "key", environment={})


def test_a_password_in_an_address_is_not_shown() -> None:
    with pytest.raises(InvalidInput) as refused:
        find_endpoint("http://me:hunter2@there", None, environment={})

    assert "hunter2" not in str(refused.value)


def test_a_key_with_a_line_break_is_refused_and_not_shown() -> None:
    with pytest.raises(InvalidInput) as refused:
        find_endpoint(None, "rota_abc\r\nX-Evil: 1", environment={})

    assert refused.value.field == "key"
    assert "Evil" not in str(refused.value)


def test_a_prefix_of_the_path_is_kept_apart_from_the_host() -> None:
    place = find_endpoint("https://example.com/rota/", None, environment={})

    assert (place.origin, place.prefix) == ("https://example.com", "/rota")


def test_the_key_is_not_shown_by_accident() -> None:
    assert "rota_secret" not in repr(find_endpoint(None, "rota_secret", environment={}))


def test_a_server_beside_a_client_does_not_mind_its_variables() -> None:
    said = {"ROTA_URL": "http://there:1", "ROTA_API_KEY": "theirs"}

    assert load_settings(environment=said, default_files=()) == Settings()


def test_a_running_server_is_found_from_a_folder_below_with_its_own_key(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key_file(elsewhere / ".rota")
    (elsewhere / "src" / ".rota").mkdir(parents=True)
    monkeypatch.chdir(elsewhere / "src")

    with publish_address(elsewhere / ".rota", "http://10.0.0.7:7273"):
        place = find_endpoint(None, None, environment={})

    assert (place.url, place.key) == ("http://10.0.0.7:7273", "rota_abc_def")
    assert place.address.describe() == f"from {elsewhere}/.rota/api.json"


def test_the_nearest_of_two_servers_is_meant(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    near, far = elsewhere / "near" / ".rota", elsewhere / ".rota"
    near.mkdir(parents=True)
    far.mkdir()
    monkeypatch.chdir(near.parent)

    with publish_address(far, "http://127.0.0.1:1"):
        with publish_address(near, "http://127.0.0.1:2"):
            both = find_endpoint(None, None, environment={})
        one = find_endpoint(None, None, environment={})

    assert (both.url, one.url) == ("http://127.0.0.1:2", "http://127.0.0.1:1")


def test_beyond_the_home_folder_nothing_is_looked_for(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (elsewhere / ".rota").mkdir()
    home = elsewhere / "home"
    (home / "project").mkdir(parents=True)
    monkeypatch.chdir(home / "project")

    with publish_address(elsewhere / ".rota", "http://127.0.0.1:7273"):
        place = find_endpoint(None, None, environment={"HOME": str(home)})

    assert place.url == "http://127.0.0.1:7070"


def test_an_address_that_another_user_wrote_is_not_used_and_told(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anybody may write into /tmp: a server that they name there would be sent the caller's key."""
    (elsewhere / ".rota").mkdir()
    variables = {"ROTA_API_KEY": "mine"}

    with publish_address(elsewhere / ".rota", "http://127.0.0.1:7273"):
        os.chown(elsewhere / ".rota" / "api.json", 12345, -1)
        place = find_endpoint(None, None, environment=variables)
        said = find_endpoint(
            None, None, environment=variables | {"ROTA_DATA": str(elsewhere / ".rota")}
        )

    assert place.url == "http://127.0.0.1:7070"
    assert f"{elsewhere}/.rota/api.json belongs to another user" in place.address.describe()
    assert said.url == "http://127.0.0.1:7273"


@pytest.mark.parametrize("text", ["", "{}", '{"url": "ftp://x", "pid": 1}', "[1]", "\xff"])
def test_a_file_that_is_no_address_is_passed_over(elsewhere: Path, text: str) -> None:
    (elsewhere / ".rota").mkdir()
    (elsewhere / ".rota" / "api.json").write_text(text, encoding="latin-1")

    assert find_endpoint(None, None, environment={}).url == "http://127.0.0.1:7070"
