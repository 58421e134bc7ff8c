"""A job says what it is for, and everything that shows or changes jobs knows it."""

import pytest
from tests.support.serving import Served

WORDS = "Sends the invoices.\n\tÄsk Zoë before you pause it."


async def test_a_description_is_made_shown_changed_and_taken_away(api: Served) -> None:
    jobs = [
        {"name": "invoices", "cron_expression": "0 2 * * *", "description": WORDS},
        {"name": "plain", "cron_expression": "0 2 * * *"},
    ]
    made = await api.platform.post("/v1/jobs/bulk", {"jobs": jobs})
    path = f"/v1/jobs/{made.json['jobs'][0]['job_id']}"

    shown = await api.platform.get(path)
    listed = await api.platform.get("/v1/jobs")
    other = await api.platform.put(path, {"priority": 1})
    changed = await api.platform.put(path, {"description": "Another."})
    gone = await api.platform.put(path, {"description": None})
    kept = await api.platform.get("/v1/audit?action=job.update")

    assert {each["description"] for each in listed.json["data"]} == {None, WORDS}
    told = [each.json["description"] for each in (shown, other, changed, gone)]
    assert told == [WORDS, WORDS, "Another.", None]
    diffs = [(each["before"].get("description"), each["after"]) for each in kept.json["data"]]
    assert [before for before, after in diffs if "description" in after] == ["Another.", WORDS]


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("x" * 1001, "expected text (1 to 1,000 characters)"),
        ("", "expected text (1 to 1,000 characters)"),
        (5, "expected text (1 to 1,000 characters)"),
        ("nul\x00", "must not contain control characters; remove U+0000"),
    ],
    ids=["long", "empty", "number", "nul"],
)
async def test_what_is_no_description_is_refused_in_a_sentence(
    api: Served, text: object, allowed: str
) -> None:
    answer = await api.platform.post("/v1/jobs", {"name": "a", "description": text})

    assert (answer.status, answer.json["errors"][0]["pointer"]) == (422, "/description")
    assert answer.json["detail"].startswith("description: ")
    assert answer.json["detail"].endswith(f"is invalid: {allowed}")


async def test_a_submission_with_a_description_is_told_that_it_is_not_stored(api: Served) -> None:
    asked = {"kind": "noop", "description": "why"}
    one = await api.platform.post("/v1/jobs", asked)
    many = await api.platform.post("/v1/jobs/bulk", {"jobs": [asked, {"kind": "noop"}]})

    sentence = "description is not stored for a one-time submission; use labels"
    assert sentence in one.json["warnings"]
    assert [sentence in each["warnings"] for each in many.json["jobs"]] == [True, False]
