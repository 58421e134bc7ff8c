"""The settings of the observability listener."""

from pathlib import Path

import pytest

from rota.config.loader import load_settings
from rota.config.observe import ObserveSettings, is_loopback, parse_listen
from rota.config.settings import Settings
from rota.core.errors import InvalidSetting


def load(folder: Path, text: str) -> Settings:
    file = folder / "rota.toml"
    file.write_text(text)
    return load_settings(environment={}, file=file, default_files=())


@pytest.mark.parametrize("listen", ["auto", "off", "127.0.0.1:7071", "localhost:0", "[::1]:80"])
def test_addresses_of_this_machine_need_nothing_else(tmp_path: Path, listen: str) -> None:
    assert load(tmp_path, f'observe.listen = "{listen}"').observe.listen == listen


@pytest.mark.parametrize("listen", ["0.0.0.0:7071", "[::]:7071", "10.0.0.5:7071", "host:7071"])
def test_other_addresses_must_be_meant(tmp_path: Path, listen: str) -> None:
    with pytest.raises(InvalidSetting, match=r"observe\.public = true"):
        load(tmp_path, f'observe.listen = "{listen}"')

    public = load(tmp_path, f'[observe]\nlisten = "{listen}"\npublic = true')
    assert public.observe == ObserveSettings(listen=listen, public=True)


@pytest.mark.parametrize("listen", ["7071", "a:b", "a:70000", ":7071", "a:-1", "a:٣"])
def test_text_that_is_no_address_is_refused(tmp_path: Path, listen: str) -> None:
    with pytest.raises(InvalidSetting, match=r'"auto", "off", or an address'):
        load(tmp_path, f'[observe]\nlisten = "{listen}"\npublic = true')


def test_the_setting_of_earlier_releases_names_its_successor(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match=r"replaced by observe\.listen"):
        load(tmp_path, 'api.health_listen = "0.0.0.0:7071"')


def test_addresses_are_told_apart() -> None:
    assert parse_listen("[::1]:7071") == ("::1", 7071)
    assert [
        is_loopback(host) for host in ("localhost", "127.8.9.1", "::1", "::", "example.com")
    ] == [
        True,
        True,
        True,
        False,
        False,
    ]
