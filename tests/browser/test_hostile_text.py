"""Scripts typed into any field of the API are rendered as text (S3)."""

import pytest
from playwright.async_api import Page, expect
from tests.browser.conftest import Visiting
from tests.support.browsing import Site

HOSTILE = [
    "<script>window.hit = 1</script>",
    "\"><img src=x onerror='window.hit = 1'>",
    "<svg/onload=window.hit=1>",
    "javascript:window.hit=1",
    "{{constructor.constructor('window.hit=1')()}}",
    "</textarea></title></style><iframe srcdoc='<script>top.hit=1</script>'>",
    "\x1b]8;;javascript:window.hit=1\x07click\x1b]8;;\x07 \u202egnp.exe",
]


@pytest.fixture(scope="module")
def text() -> str:
    return " ".join(HOSTILE)


async def planted(site: Site, text: str) -> tuple[str, str]:
    """Creates a job and a dead run with hostile text in every field; returns their ids."""
    name = "".join(each for each in text if each.isprintable())[:190]
    job = {
        "name": name,
        "kind": "demo.hopeless",
        "queue": "<b>queue</b>",
        "labels": {"team": "<img src=x onerror=window.hit=1>"},
        "user_id": "<script>window.hit=1</script>",
        "payload": {"<script>": text, "list": HOSTILE},
        "max_retries": 0,
    }
    made = await site.platform.post("/v1/jobs", job)
    assert made.status == 201, made.text
    begun = await site.platform.post(
        "/v1/runs/external", {"job": f"ext {name}"[:190], "host": name[:170], "payload": text}
    )
    assert begun.status < 300, begun.text
    output = [
        {"seq": place, "stream": "stderr", "text": f"{each}\n"}
        for place, each in enumerate(HOSTILE)
    ]
    path = f"/v1/runs/{begun.json['run_id']}/external/end"
    ended = await site.platform.post(path, {"output": output, "exit_code": 3, "why": text[:900]})
    assert ended.status < 300, ended.text
    await site.platform.post("/v1/keys", {"name": name, "role": "viewer", "user_id": name})
    await site.platform.put("/v1/secrets/hostile", {"value": text})
    await site.platform.post("/v1/tenants", {"name": name})
    await site.platform.post(f"/v1/jobs/{made.json['job_id']}/pause", {"reason": text[:200]})
    return str(made.json["job_id"]), str(begun.json["run_id"])


async def test_text_stays_text_on_every_page(site: Site, visit: Visiting, text: str) -> None:
    job_id, run_id = await planted(site, text)
    visitor = await visit("/")
    page = visitor.page

    for path in (
        "/",
        "/jobs",
        f"/jobs/{job_id}",
        f"/jobs/{job_id}/edit",
        "/runs",
        f"/runs/{run_id}",
        "/dead-letters",
        "/queues",
        "/workers",
        "/tenants",
        "/keys",
        "/secrets",
        "/audit",
        "/calendar",
        "/graphs",
        "/events",
        "/backfills",
    ):
        await visitor.open(path)
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        await settled(page)
        assert await page.evaluate("window.hit ?? null") is None, path
        # Interpreted text would be an element; the page itself has no such elements.
        assert await page.locator("iframe, svg[onload], img[onerror], #root script").count() == 0
    await page.goto(f"{site.url}/jobs?q=%3Cscript%3E")
    await expect(page.get_by_text("<script>window.hit = 1</script>").first).to_be_visible()


async def settled(page: Page) -> None:
    """Waits until the page has loaded its first data."""
    await expect(page.locator(".loading")).to_have_count(0)
