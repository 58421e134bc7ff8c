"""Log-in, log-out, and what a page may load (issue 7)."""

import pytest
from playwright.async_api import Error, expect
from tests.browser.conftest import Visiting
from tests.support.browsing import REFUSED, Site, look


async def test_a_key_logs_in_and_leads_to_the_requested_page(site: Site, visit: Visiting) -> None:
    visitor = await visit("/queues", role=None)
    page = visitor.page
    await expect(page.get_by_role("heading", name="Log in to Rota")).to_be_visible()
    await look(page, "login")

    await page.get_by_label("API key").fill(str(site.platform.key))
    await page.get_by_role("button", name="Log in").click()

    # The page that was requested first.
    await expect(page.get_by_role("heading", name="Queues")).to_be_visible()
    assert page.url == f"{site.url}/queues"


async def test_a_wrong_key_shows_an_error(visit: Visiting) -> None:
    visitor = await visit("/login", role=None)
    visitor.faults.expect(REFUSED)

    await visitor.page.get_by_label("API key").fill("rota_nonsense")
    await visitor.page.get_by_role("button", name="Log in").click()

    await expect(visitor.page.get_by_role("alert")).to_contain_text("the API key is malformed")


async def test_a_link_of_rota_open_logs_in_once(site: Site, visit: Visiting) -> None:
    ticket = (await site.platform.post("/v1/login-tickets")).json

    visitor = await visit(ticket["path"], role=None)

    await expect(visitor.page.get_by_role("navigation").first).to_be_visible()
    assert ticket["ticket"] not in visitor.page.url
    again = await visit("/login", role=None)
    again.faults.expect(REFUSED)
    await again.open(ticket["path"])
    await again.page.reload()
    await expect(again.page.get_by_label("API key")).to_be_visible()


async def test_a_user_whose_key_is_revoked_must_log_in_again(site: Site, visit: Visiting) -> None:
    made = (await site.platform.post("/v1/keys", {"name": "lost", "role": "viewer"})).json
    visitor = await visit("/queues", key=made["key"])
    visitor.faults.expect(REFUSED)
    await expect(visitor.page.get_by_role("heading", name="Queues")).to_be_visible()

    await site.platform.delete(f"/v1/keys/{made['key_id']}")

    asked = visitor.page.get_by_role("heading", name="Log in to Rota")
    await expect(asked).to_be_visible(timeout=15_000)


async def test_the_api_page_does_not_store_the_key_and_never_renders_text_as_markup(
    site: Site, visit: Visiting
) -> None:
    visitor = await visit("/docs", role=None)
    page = visitor.page
    # The last line of this test causes it.
    visitor.faults.expect("TrustedHTML")
    await page.get_by_label("API key").fill(str(site.platform.key))
    kept = await page.evaluate("[Object.keys(sessionStorage), Object.keys(localStorage)]")

    await page.reload()

    assert kept == [[], []]
    await expect(page.get_by_label("API key")).to_have_value("")
    with pytest.raises(Error, match="TrustedHTML"):
        await page.evaluate("document.body.innerHTML = '<b>bold</b>'")


async def test_a_page_loads_and_runs_nothing_from_other_origins(visit: Visiting) -> None:
    visitor = await visit("/")
    for part in ("Refused to", "violates", "ERR_", "Content Security Policy", "requires 'Trusted"):
        visitor.faults.expect(part)

    outcome = await visitor.page.evaluate(
        """async () => {
            const script = document.createElement("script");
            try {
                script.textContent = "window.ran = true";
                document.body.append(script);
            } catch { /* refused even earlier */ }
            const style = document.createElement("div");
            style.setAttribute("style", "position: fixed; top: 7px");
            document.body.append(style);
            const fetched = await fetch("https://example.org/").then(() => true, () => false);
            // In a task of its own: what a test evaluates may do more than the page.
            const evaluated = await new Promise((told) => setTimeout(() => {
                try { told(eval("true")); } catch { told(false); }
            }));
            let written = true;
            try { style.innerHTML = "<b>text</b>"; } catch { written = false; }
            return { ran: window.ran ?? false, fetched, evaluated, written, top: style.style.top };
        }"""
    )

    assert outcome == {
        "ran": False,
        "fetched": False,
        "evaluated": False,
        "written": False,
        "top": "",
    }
