"""What one key or one value may not do: fill the audit log, hide a NUL in a secret (T4)."""

from typing import Any

from tests.support.serving import Served

from rota.store.logins import OPEN_TICKETS_MAX


async def audited(api: Served, action: str) -> Any:
    return await api.conn.fetchval("select count(*) from rota.audit where action = $1", action)


async def test_unused_login_tickets_are_few_and_are_not_audited_one_by_one(api: Served) -> None:
    viewer, other = await api.caller("viewer"), await api.caller("viewer")

    made = [(await viewer.post("/v1/login-tickets")) for _ in range(OPEN_TICKETS_MAX + 2)]

    assert [each.status for each in made] == [201] * OPEN_TICKETS_MAX + [429, 429]
    assert int(made[-1].headers["retry-after"]) >= 1
    assert (await other.post("/v1/login-tickets")).status == 201
    assert await audited(api, "login.ticket") == 0


async def test_a_secret_with_a_nul_is_refused(api: Served) -> None:
    refused = await api.platform.put("/v1/secrets/token", {"value": "a secret\x00with more"})

    assert (refused.status, refused.json["code"]) == (422, "invalid_input")
    assert "NUL" in refused.json["detail"]
    assert "with more" not in refused.text


async def test_a_null_lifts_a_quota_and_what_is_absent_has_its_default(api: Served) -> None:
    made = (await api.platform.post("/v1/tenants", {"name": "acme"})).json
    path = f"/v1/tenants/{made['tenant_id']}"
    await api.platform.call("PATCH", path, {"quotas": {"max_jobs": None, "max_queues": 5}})
    shown = (await api.platform.get(path)).json

    assert made["quotas"] == {}
    assert shown["quotas"] == {"max_jobs": None, "max_queues": 5}


async def test_new_queue_names_of_a_tenant_are_bounded_at_the_api(api: Served) -> None:
    made = (
        await api.platform.post("/v1/tenants", {"name": "acme", "quotas": {"max_queues": 2}})
    ).json
    operator = await api.caller("operator", tenant_id=made["tenant_id"])
    answers = [
        await operator.post("/v1/jobs", {"kind": "noop", "name": f"j{n}", "queue": f"acme-{n}"})
        for n in range(3)
    ]

    assert [each.status for each in answers] == [201, 201, 429]
    assert "max_queues" in answers[-1].json["detail"]


async def test_hooks_calendars_secrets_and_keys_of_a_tenant_are_bounded(api: Served) -> None:
    quotas = {"max_hooks": 1, "max_calendars": 1, "max_secrets": 1, "max_keys": 2}
    made = (await api.platform.post("/v1/tenants", {"name": "acme", "quotas": quotas})).json
    admin = await api.caller("admin", tenant_id=made["tenant_id"])
    answers = {
        "max_hooks": [
            await admin.post("/v1/hooks", {"name": f"h{n}", "type": "paid"}) for n in range(2)
        ],
        "max_calendars": [
            await admin.put(f"/v1/calendars/c{n}", {"calendar": {"dates": ["2090-01-01"]}})
            for n in range(2)
        ],
        "max_secrets": [
            await admin.put(f"/v1/secrets/s{n}", {"value": "a secret value"}) for n in range(2)
        ],
        "max_keys": [
            await admin.post("/v1/keys", {"name": f"k{n}", "role": "viewer"}) for n in range(2)
        ],
    }

    for quota, (first, second) in answers.items():
        assert first.status in {200, 201}, quota
        assert (second.status, second.json["code"]) == (429, "quota_exceeded"), quota
        assert quota in second.json["detail"]
    # Replacing what is there needs no room.
    assert (await admin.put("/v1/secrets/s0", {"value": "another value"})).status == 200
