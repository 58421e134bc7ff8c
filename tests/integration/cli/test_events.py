"""`rota events` and `rota hooks`: each command once, and what is wrong with one (I4, S7)."""

import json
from uuid import uuid4

import pytest
from tests.support.installation import Installation, until

from rota.sdk import webhooks
from rota.sdk.client import ApiError


@pytest.fixture
def word() -> str:
    return f"w{uuid4().hex[:8]}"


def test_an_event_is_sent_shown_run_and_replayed(installation: Installation, word: str) -> None:
    rota = installation.rota
    schedule = {"event": {"type": f"{word}.*", "where": "event.data.name != 'nobody'"}}
    payload = {"name": {"$": "event.data.name"}}
    made = installation.client.create_job(
        name=word, kind="kit.greet", schedule=schedule, payload=payload
    )

    sent = rota("events", "send", f"{word}.met", '{"name": "ada"}', "--id", "1", "--json").json
    again = rota("events", "send", f"{word}.met", '{"name": "ada"}', "--id", "1")
    batch = json.dumps([{"type": f"{word}.met", "data": {"name": "nobody"}}, {"type": word}])
    several = rota("events", "send", "--batch", batch)
    listed = rota("events", "list", "--type", f"{word}.met", "--quiet").out.split()
    shown = rota("events", "show", listed[0])
    dry = rota("events", "replay", "--type", f"{word}.met", "--job", word, "--dry-run")
    done = rota("events", "replay", "--type", f"{word}.met", "--job", word, "--yes", "--json").json

    (event,) = sent["events"]
    (run_id,) = event["run_ids"]
    ended = installation.ended(run_id)
    assert (ended.job_id, ended.result) == (made.job_id, {"greeted": "ada"})
    assert again.out == (
        f"{event['event_id']}: 0 events accepted, 1 run created; 1 duplicate ignored\n"
    )
    assert several.out == "2 events accepted, 0 runs created\n"
    assert listed[1] == event["event_id"]
    assert "filtered (false: event.data.name != 'nobody')" in shown.out
    assert dry.out == "2 events would be replayed\n"
    assert (done["done"], done["runs"]) == (2, 1)


def test_a_node_makes_the_run_of_what_was_gathered(installation: Installation, word: str) -> None:
    schedule = {"event": {"type": word, "debounce": "1s"}}
    plain = installation.rota("jobs", "create", f"{word} 2", "--event", "x.*", "--json").json
    told = installation.client.get_job(plain["job_id"])
    assert (told.schedule_type, (told.schedule or {})["event"]) == ("EVENT", "x.*")
    installation.client.create_job(
        name=word, kind="kit.greet", schedule=schedule, payload={"name": {"$": "event.data"}}
    )

    both = [{"type": word, "data": name} for name in ("ada", "bob")]
    first, last = installation.client.send_events(events=both).events

    until(lambda: is_there(installation, last.run_ids[0]), "the run is made")
    assert first.run_ids == last.run_ids
    assert installation.ended(last.run_ids[0]).result == {"greeted": "bob"}


def is_there(installation: Installation, run_id: str) -> bool:
    try:
        return bool(installation.client.get_run(run_id))
    except ApiError as error:
        assert error.code == "not_found"
        return False


def test_a_hook_is_made_used_rotated_and_deleted(installation: Installation, word: str) -> None:
    rota = installation.rota
    secret = rota("hooks", "create", word, f"{word}.paid", "--quiet").out.strip()
    (hook,) = [each for each in rota("hooks", "list", "--json").json if each["name"] == word]
    rotated = rota("hooks", "rotate", word, "--former-for", "1h", "--yes", "--json").json
    deleted = rota("hooks", "delete", word, "--yes")

    assert webhooks.sign(b"{}", secret, id="1")
    assert (hook["type"], hook["style"], hook["used_at"]) == (f"{word}.paid", "standard", None)
    assert (rotated["version"], rotated["secret"] != secret) == (2, True)
    assert deleted.out == f"Deleted hook {word}\n"
    assert rota("hooks", "delete", word, "--yes").code == 66


def test_what_is_wrong_with_a_command_is_said_in_a_line(installation: Installation) -> None:
    wrong = (
        ("send",),
        ("send", "a", "--batch", "[]"),
        ("send", "a", "{"),
        ("send", "--batch", "{}"),
        ("send", "a.*"),
        ("replay",),
        ("replay", "--since", "yesterday"),
    )
    for arguments in wrong:
        said = installation.rota("events", *arguments)
        assert (said.code, said.out, said.err.count("\n")) == (64, "", 1), (arguments, said)
    assert installation.rota("events", "show", "evt_0").code == 66
