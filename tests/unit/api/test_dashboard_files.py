"""The files of the dashboard: what browsers keep, what they ask for again, what is no page."""

from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response

from rota.api.dashboard.files import DashboardFiles

BROWSER = {"accept": "text/html,*/*;q=0.8", "accept-encoding": "gzip, br"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html><title>Rota</title>")
    (tmp_path / "favicon.svg").write_text("<svg/>")
    (tmp_path / "assets" / "main-abc123.js").write_text("let rota")
    (tmp_path / "assets" / "main-abc123.js.gz").write_bytes(b"zipped")
    (tmp_path.parent / "secret.txt").write_text("not yours")
    return tmp_path


def asked(files: DashboardFiles, path: str, method: str = "GET", **headers: str) -> Response | None:
    named = BROWSER | {name.replace("_", "-"): value for name, value in headers.items()}
    given = [(name.encode(), value.encode()) for name, value in named.items()]
    scope = {"type": "http", "method": method, "path": path, "headers": given}
    return files.respond(Request(scope | {"query_string": b"", "server": ("localhost", 80)}))


def test_what_has_a_hash_in_its_name_is_kept_for_ever(home: Path) -> None:
    script = asked(DashboardFiles(home), "/assets/main-abc123.js")

    assert script is not None
    assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert script.headers["content-type"].startswith("text/javascript")


def test_the_page_is_asked_for_again_and_sent_only_if_it_changed(home: Path) -> None:
    files = DashboardFiles(home)
    first = asked(files, "/")
    assert first is not None

    again = asked(files, "/", if_none_match=first.headers["etag"])

    assert again is not None
    assert first.headers["cache-control"] == "no-cache"
    assert (again.status_code, again.body) == (304, b"")


def test_files_come_zipped_to_whoever_can_read_that(home: Path) -> None:
    zipped = asked(DashboardFiles(home), "/assets/main-abc123.js")
    plain = asked(DashboardFiles(home), "/assets/main-abc123.js", accept_encoding="identity")

    assert zipped is not None
    assert plain is not None
    assert (zipped.body, zipped.headers["content-encoding"]) == (b"zipped", "gzip")
    assert plain.body == b"let rota"
    assert zipped.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize("path", ["/jobs", "/jobs/job_1", "/runs/run_1/logs", "/calendar"])
def test_a_deep_link_is_the_page(home: Path, path: str) -> None:
    page = asked(DashboardFiles(home), path)

    assert page is not None
    assert page.body == (home / "index.html").read_bytes()


@pytest.mark.parametrize(
    "path",
    [
        "/v1/nothing",
        "/ui/nothing",
        "/metrics/x",
        "/assets/gone-123.js",
        "/assets/../index.html",
        "/assets/main-abc123.js.gz",
    ],
)
def test_what_programs_ask_for_is_never_the_page(home: Path, path: str) -> None:
    assert asked(DashboardFiles(home), path) is None


@pytest.mark.parametrize("path", ["/../secret.txt", "//../secret.txt", "/assets/../../secret.txt"])
def test_nothing_outside_the_folder_is_ever_sent(home: Path, path: str) -> None:
    answer = asked(DashboardFiles(home), path)

    assert answer is None or b"not yours" not in bytes(answer.body)


def test_a_program_gets_no_page_for_a_path_that_is_not_there(home: Path) -> None:
    assert asked(DashboardFiles(home), "/jobs", accept="*/*") is None
    assert asked(DashboardFiles(home), "/jobs", method="POST") is None


def test_a_dashboard_that_was_built_anew_is_served_without_a_restart(home: Path) -> None:
    files = DashboardFiles(home)
    before = asked(files, "/")

    (home / "new.html").write_text("<!doctype html><title>Rota again</title>")
    (home / "new.html").replace(home / "index.html")
    after = asked(files, "/")

    assert before is not None
    assert after is not None
    assert (b"again" in bytes(before.body), b"again" in bytes(after.body)) == (False, True)


def test_without_a_build_a_page_says_how_to_make_one(tmp_path: Path) -> None:
    page = asked(DashboardFiles(tmp_path / "nowhere"), "/")

    assert page is not None
    assert page.status_code == 200
    assert b"make web" in bytes(page.body)
