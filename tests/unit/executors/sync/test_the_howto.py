"""docs/howto/sync-jobs.md says what is true."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from rota.config.loader import load_settings
from rota.contract.documents import fields_by_name
from rota.contract.payloads.sync import SyncPayload
from rota.executors.sync.places import SyncPlace
from rota.executors.sync.spec import read_order

PAGE = (Path(__file__).parents[4] / "docs/howto/sync-jobs.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def places(tmp_path: Path) -> dict[str, SyncPlace]:
    (tmp_path / "rota.toml").write_text(blocks("toml")[0])
    written = load_settings(environment={}, file=tmp_path / "rota.toml").executors.places
    return {
        name: SyncPlace(
            name=name,
            url=place.url,
            endpoint=place.endpoint,
            region=place.region,
            account=place.account,
            secret=place.secret,
            key_file=str(place.key_file) if place.key_file else None,
            host_keys=place.host_keys,
            read_only=place.read_only,
        )
        for name, place in written.items()
    }


def test_its_places_and_its_payload_are_accepted(places: dict[str, SyncPlace]) -> None:
    order = read_order(json.loads(blocks("json")[0]), places=places)

    assert order.mirror
    assert order.source.shown == "photos:/2026"


def test_its_table_names_every_field() -> None:
    assert [field for field in fields_by_name(SyncPayload) if f"`{field}`" not in PAGE] == []


def test_its_results_have_the_fields_of_results() -> None:
    foretold: dict[str, Any] = json.loads(blocks("json")[1])

    assert foretold["dry_run"] is True
    assert (
        json.loads(re.findall(r"The result of the actual run is `(\{.*?\})`", PAGE)[0])["copied"]
        == 2
    )
