"""The file that says where the API listens. Proves a part of I3."""

import os
from pathlib import Path

from rota.runtime.address_file import ADDRESS_FILE, publish_address, read_address


def test_an_address_is_there_while_its_server_is(tmp_path: Path) -> None:
    file = tmp_path / ADDRESS_FILE

    with publish_address(tmp_path, "http://127.0.0.1:7273") as is_written:
        found = read_address(file)

    assert is_written
    assert found is not None
    assert (found.url, found.pid, found.is_running) == ("http://127.0.0.1:7273", os.getpid(), True)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_a_killed_server_left_is_stale_and_replaced(tmp_path: Path) -> None:
    file = tmp_path / ADDRESS_FILE
    file.write_text('{"url": "http://127.0.0.1:1", "pid": 1}')

    left = read_address(file)
    with publish_address(tmp_path, "http://127.0.0.1:2"):
        found = read_address(file)

    assert left is not None
    assert not left.is_running
    assert found is not None
    assert found.url == "http://127.0.0.1:2"


def test_a_second_server_leaves_the_address_of_the_first(tmp_path: Path) -> None:
    with publish_address(tmp_path, "http://127.0.0.1:1"):
        with publish_address(tmp_path, "http://127.0.0.1:2") as is_written:
            pass
        found = read_address(tmp_path / ADDRESS_FILE)

    assert not is_written
    assert found is not None
    assert found.url == "http://127.0.0.1:1"


def test_a_folder_that_is_not_there_stops_no_server(tmp_path: Path) -> None:
    with publish_address(tmp_path / "nowhere", "http://127.0.0.1:1") as is_written:
        assert not is_written

    assert list(tmp_path.iterdir()) == []
