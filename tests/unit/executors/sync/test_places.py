"""What a place may be, and what a payload may say of it."""

from typing import Any

import pytest

from rota.core.errors import InvalidInput, InvalidSetting
from rota.executors.sync.object_tree import format_seconds, open_store, parse_nanoseconds
from rota.executors.sync.places import PlaceFolder, SyncPlace
from rota.executors.sync.spec import read_order

HOST_KEY = f"SHA256:{'A' * 43}"
CANARY = "canary-secret"


@pytest.mark.parametrize(
    "settings",
    [
        {"url": "file:///srv/photos"},
        {"url": "file:///srv/with%20space"},
        {"url": "s3://bucket/prefix"},
        {"url": "s3://bucket", "account": "id", "secret": "s", "endpoint": "http://localhost:9000"},
        {"url": "gs://bucket/prefix"},
        {"url": "az://container", "account": "name", "secret": "a2V5"},
        {"url": "sftp://me@host/dir", "secret": "s", "host_keys": (HOST_KEY,)},
        {"url": "sftp://me@host:2222/", "key_file": "/k", "host_keys": (HOST_KEY, HOST_KEY)},
    ],
)
def test_such_a_place_is_accepted(settings: dict[str, Any]) -> None:
    assert SyncPlace(name="photos", **settings).name == "photos"


@pytest.mark.parametrize(
    ("setting", "settings"),
    [
        ("url", {"url": "photos"}),
        ("url", {"url": "ftp://host/"}),
        ("url", {"url": "file://otherhost/srv"}),
        ("url", {"url": "file:///srv/../etc"}),
        ("url", {"url": "s3://"}),
        ("url", {"url": f"sftp://me:{CANARY}@host/"}),
        ("url", {"url": f"s3://bucket/?key={CANARY}"}),
        ("url", {"url": "sftp://host/dir", "secret": CANARY, "host_keys": (HOST_KEY,)}),
        ("url", {"url": "sftp://me@host:port/"}),
        ("host_keys", {"url": "sftp://me@host/", "secret": CANARY}),
        ("host_keys", {"url": "sftp://me@host/", "secret": CANARY, "host_keys": ("MD5:aa",)}),
        ("key_file", {"url": "sftp://me@host/", "host_keys": (HOST_KEY,)}),
        ("account", {"url": "s3://bucket", "secret": CANARY}),
        ("account", {"url": "az://container"}),
        ("endpoint", {"url": "s3://bucket", "endpoint": "localhost:9000"}),
        ("region", {"url": "file:///srv", "region": "here"}),
        ("secret", {"url": "file:///srv", "secret": CANARY}),
    ],
)
def test_such_a_place_is_refused_without_telling_a_secret(
    setting: str, settings: dict[str, Any]
) -> None:
    with pytest.raises(InvalidSetting) as refusal:
        SyncPlace(name="photos", **settings)

    assert refusal.value.field == f"executors.places.photos.{setting}"
    assert CANARY not in str(refusal.value)


def test_a_place_shows_its_secret_to_nobody() -> None:
    place = SyncPlace(name="b", url="s3://bucket", account="id", secret=CANARY)

    said = place.clean_message(f"PUT http://host/x?sig={CANARY}&a=1\nfailed for {CANARY}")

    assert CANARY not in repr(place) + said
    assert said == "PUT http://host/x?… failed for ***"


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        (("file:///srv", "a"), ("file:///srv/a", ""), True),
        (("file:///srv", ""), ("file:///srv", "a/b"), True),
        (("file:///srv", "a"), ("file:///srv", "ab"), False),
        (("s3://bucket/x", "a"), ("s3://bucket/x", "a"), True),
        (("s3://bucket/x", "a"), ("s3://other/x", "a"), False),
        (("file:///srv", "a"), ("s3://srv", "a"), False),
    ],
)
def test_a_target_inside_of_its_source_is_seen(
    one: tuple[str, str], other: tuple[str, str], overlap: bool
) -> None:
    here, there = (
        PlaceFolder(place=SyncPlace(name=name, url=url), path=path)
        for name, (url, path) in (("one", one), ("other", other))
    )

    assert here.overlaps(there) is overlap
    assert there.overlaps(here) is overlap


PLACES = {
    "photos": SyncPlace(name="photos", url="file:///srv/photos", read_only=True),
    "backup": SyncPlace(name="backup", url="file:///srv/backup"),
}


def test_a_payload_may_leave_almost_everything_out() -> None:
    order = read_order({"from": "photos:/2026//05/", "to": "backup:"}, places=PLACES)

    assert (order.source.path, order.target.path) == ("2026/05", "")
    assert not any((order.mirror, order.checksum, order.dry_run, order.allow_empty))
    assert (order.max_delete, order.parallel) == (100, 4)


@pytest.mark.parametrize(
    ("field", "payload"),
    [
        ("from", {"from": "photos/2026"}),
        ("from", {"from": "elsewhere:/"}),
        ("from", {"from": "photos:/a/../../etc"}),
        ("from", {"from": "photos:/./a"}),
        ("from", {"from": "photos:/a\0b"}),
        ("from", {"from": "photos:/\udcff"}),
        ("from", {"from": f"photos:/{'x' * 5000}"}),
        ("to", {"to": "photos:/"}),
        ("to", {"to": None}),
        ("include", {"include": "*"}),
        ("include[0]", {"include": [""]}),
        ("include[1]", {"include": ["*", 7]}),
        ("include[0]", {"include": ["x" * 501]}),
        ("exclude", {"exclude": ["x"] * 101}),
        ("mode", {"mode": ["mirror"]}),
        ("compare", {"compare": "md5"}),
        ("parallel", {"parallel": 17}),
        ("parallel", {"parallel": True}),
        ("max_delete", {"max_delete": "all"}),
        ("allow_empty", {"allow_empty": 1}),
        ("payload.colour", {"colour": "red"}),
    ],
)
def test_what_a_payload_says_wrong_is_named(field: str, payload: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refusal:
        read_order({"from": "photos:/", "to": "backup:/", **payload}, places=PLACES)

    assert refusal.value.field == field


def test_a_time_is_kept_to_the_nanosecond_and_read_from_what_others_wrote() -> None:
    exact = 1_700_000_000_123_456_789

    assert parse_nanoseconds(format_seconds(exact)) == exact
    assert parse_nanoseconds("1700000000") == 1_700_000_000 * 10**9
    assert parse_nanoseconds("2023-11-14T22:13:20.5+00:00") == 1_700_000_000_500_000_000
    assert parse_nanoseconds("yesterday") is None
    assert parse_nanoseconds("nan") is None


@pytest.mark.parametrize(
    "settings",
    [
        {"url": "az://container/p", "account": "name", "secret": "a2V5"},
        {"url": "s3://bucket/p", "account": "id", "secret": "s", "region": "eu-central-1"},
        {"url": "gs://bucket/p"},
    ],
)
def test_a_store_can_be_opened_without_asking_anybody(settings: dict[str, Any]) -> None:
    place = SyncPlace(name="b", **settings)

    assert open_store(PlaceFolder(place=place, path="x")) is not None
