"""Whose jobs there are and on whose behalf keys act, through the API (T2)."""

from tests.support.serving import Served

LATER = "2030-01-01T00:00:00Z"


async def plant(api: Served, user_id: str, number: int) -> None:
    jobs = [
        {"name": f"{user_id} {place}", "kind": "x", "schedule_time": LATER, "user_id": user_id}
        for place in range(number)
    ]
    made = await api.platform.post("/v1/jobs/bulk", {"jobs": jobs})
    assert made.status == 201, made.text


async def test_users_are_whom_jobs_and_keys_name(api: Served) -> None:
    await plant(api, "u003", 3)
    await plant(api, "u001", 1)
    await api.platform.post("/v1/keys", {"name": "deploy", "role": "viewer", "user_id": "u002"})
    await api.platform.post("/v1/keys", {"name": "laptop", "role": "viewer", "user_id": "u003"})

    found = await api.platform.get("/v1/users")
    assert found.status == 200, found.text

    assert found.json["data"] == [
        {"user_id": "u001", "jobs": 1, "keys": 0},
        {"user_id": "u002", "jobs": 0, "keys": 1},
        {"user_id": "u003", "jobs": 3, "keys": 1},
    ]
    assert found.json["next_cursor"] is None


async def test_users_come_in_pages_each_once(api: Served) -> None:
    names = [f"u{number:03}" for number in range(7)]
    for name in names[::2]:
        await plant(api, name, 2)
    for name in names[1::2]:
        await api.platform.post("/v1/keys", {"name": name, "role": "viewer", "user_id": name})

    seen, path = [], "/v1/users?limit=2"
    while path:
        page = (await api.platform.get(path)).json
        seen += [each["user_id"] for each in page["data"]]
        more = page["next_cursor"]
        path = f"/v1/users?limit=2&cursor={more}" if more else ""

    assert seen == names


async def test_a_deleted_job_is_nobodys(api: Served) -> None:
    await plant(api, "u001", 2)
    (first, _) = (await api.platform.get("/v1/jobs?user_id=u001&type=all")).json["data"]
    await api.platform.delete(f"/v1/jobs/{first['job_id']}")

    assert (await api.platform.get("/v1/users/u001")).json["jobs"] == 1


async def test_somebody_whom_nothing_names_is_not_there(api: Served) -> None:
    assert (await api.platform.get("/v1/users/nobody")).status == 404
    assert (await api.platform.delete("/v1/users/nobody/keys")).status == 404


async def test_whoever_leaves_loses_all_keys_and_it_is_written_down(api: Served) -> None:
    keys = [await api.caller("operator", user_id="u007") for _ in range(2)]
    stays = await api.caller("operator", user_id="u008")

    gone = await api.platform.delete("/v1/users/u007/keys")
    again = await api.platform.delete("/v1/users/u007/keys")

    listed = (await api.platform.get("/v1/keys")).json["data"]
    revoked = {each["user_id"] for each in listed if each["revoked_at"]}
    audit = (await api.platform.get("/v1/audit?action=user.revoke_keys")).json["data"]
    assert len(gone.json["key_ids"]) == len(keys)
    assert again.json["key_ids"] == []
    assert revoked == {"u007"}
    assert audit[-1]["thing_id"] == "u007"
    assert (await stays.get("/v1/whoami")).status == 200


async def test_users_of_another_tenant_are_not_shown(api: Served) -> None:
    await plant(api, "u001", 1)
    other = await api.caller("admin", tenant_id=await api.tenant("another"))

    assert (await other.get("/v1/users")).json["data"] == []
    assert (await other.get("/v1/users/u001")).status == 404


async def test_names_with_invisible_characters_are_refused_wherever_one_is_given(
    api: Served,
) -> None:
    """Two names that look alike must not be two (T1)."""
    name = "deploy\u202e"
    job = {"name": "visible", "kind": "x", "schedule_time": LATER}

    answers = [
        await api.platform.post("/v1/jobs", job | more)
        for more in (
            {"name": name},
            {"kind": name},
            {"queue": name},
            {"labels": {name: "x"}},
            {"labels": {"team": name}},
            {"user_id": name},
        )
    ]
    answers.append(await api.platform.post("/v1/keys", {"name": name, "role": "viewer"}))
    answers.append(
        await api.platform.post("/v1/keys", {"name": "k", "role": "viewer", "user_id": name})
    )

    assert [answer.status for answer in answers] == [422] * len(answers)
    assert all("U+202E" in answer.text for answer in answers)
