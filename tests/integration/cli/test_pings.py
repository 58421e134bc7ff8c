"""`rota ping` and `rota predict` on a running installation."""

import urllib.request

from tests.support.installation import Installation


def test_a_ping_is_created_reported_shown_rotated_and_deleted(installation: Installation) -> None:
    created = installation.rota("ping", "create", "nightly backup", "--every", "1d")
    url = created.out.strip()
    assert created.code == 0, created.err
    assert url.startswith(f"{installation.url}/ping/")
    assert "not shown again" in created.err

    with urllib.request.urlopen(url, timeout=10) as answer:
        assert answer.read() == b"OK"
    listed = installation.rota("ping", "list", "--json").json
    assert [(ping["name"], ping["state"]) for ping in listed] == [("nightly backup", "up")]
    shown = installation.rota("ping", "show", "nightly backup")
    assert "state: up" in shown.lines

    rotated = installation.rota("ping", "rotate", "nightly backup")
    assert rotated.out.strip() != url
    deleted = installation.rota("ping", "delete", "nightly backup", "--yes")
    assert deleted.code == 0, deleted.err
    assert installation.rota("ping", "list").out.strip() == "No pings"


def test_a_ping_without_a_time_is_refused(installation: Installation) -> None:
    refused = installation.rota("ping", "create", "timeless")
    assert refused.code != 0
    assert "give either every or cron" in refused.err


def test_a_prediction_says_when_there_is_too_little_history(installation: Installation) -> None:
    installation.client.create_job(
        name="predicted", kind="kit.greet", payload={"name": "a"}, schedule={"cron": "0 5 * * *"}
    )
    found = installation.rota("predict", "predicted", "--by", "+2h")
    assert found.code == 0, found.err
    assert found.out.startswith("No prediction: too little history: 0 successful runs")
