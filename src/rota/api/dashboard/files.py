"""Serves the dashboard files that `make web` built.

The files, at most a megabyte, are read into memory, and again after a new build. Names below
`assets/` contain a hash of the content, so browsers cache them for ever; the page itself is
revalidated every time. Any other unclaimed path returns the page: the dashboard routes the rest of
the address itself.
"""

import mimetypes
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

BUILD_FOLDER: Final = Path(__file__).parent / "built"
PAGE_FILE: Final = "index.html"
IMMUTABLE_CACHE: Final = "public, max-age=31536000, immutable"
# Paths of the API, which never return the page.
API_PATHS: Final = frozenset({"v1", "ui", "docs", "problems", "healthz", "readyz", "metrics"})
NOT_BUILT_PAGE: Final = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Rota</title></head>
<body>
<h1>Rota is running</h1>
<p>The dashboard is not built. In a source checkout, run <code>make web</code> (requires Node.js
20.19 or newer), then reload this page.</p>
<p>The <a href="/docs">API</a> and the command line work without it.</p>
</body>
</html>
"""


class DashboardFile(NamedTuple):
    body: bytes
    zipped: bytes | None
    media: str
    etag: str
    cache_control: str


@dataclass(slots=True)
class DashboardFiles:
    """`home` is the folder; it may appear, vanish and change while the process serves it."""

    home: Path = BUILD_FOLDER
    _built: tuple[int, int] | None = None
    _files: dict[str, DashboardFile] = field(default_factory=dict)

    def respond(self, request: Request) -> Response | None:
        """Return the file or the page at a path; None if the path is not the dashboard's."""
        if request.method not in {"GET", "HEAD"}:
            return None
        path = request.url.path.removeprefix("/")
        self._reload_if_changed()
        file = self._files.get(path)
        if file is None:
            if path and not is_page(path, request.headers.get("accept", "")):
                return None
            file = self._files.get(PAGE_FILE)
            if file is None:
                return Response(NOT_BUILT_PAGE, media_type="text/html")
        return build_file_response(file, request)

    def _reload_if_changed(self) -> None:
        try:
            status = (self.home / PAGE_FILE).stat()
        except OSError:
            self._built, self._files = None, {}
            return
        built = (status.st_mtime_ns, status.st_ino)
        if built != self._built:
            self._files = read_files(self.home)
            self._built = built


def is_page(path: str, accept: str) -> bool:
    """Tell whether a browser requests a page and not a file."""
    return path.partition("/")[0] not in API_PATHS | {"assets"} and "text/html" in accept


def read_files(home: Path) -> dict[str, DashboardFile]:
    files = {}
    for path in sorted(home.rglob("*")):
        if path.is_file() and path.suffix != ".gz" and not path.name.startswith("."):
            name = path.relative_to(home).as_posix()
            zipped = path.with_name(f"{path.name}.gz")
            body = path.read_bytes()
            files[name] = DashboardFile(
                body=body,
                zipped=zipped.read_bytes() if zipped.is_file() else None,
                media=mimetypes.guess_type(name)[0] or "application/octet-stream",
                etag=f'"{sha256(body).hexdigest()[:20]}"',
                cache_control=IMMUTABLE_CACHE if name.startswith("assets/") else "no-cache",
            )
    return files


def build_file_response(file: DashboardFile, request: Request) -> Response:
    headers = {"ETag": file.etag, "Cache-Control": file.cache_control, "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == file.etag:
        return Response(status_code=304, headers=headers)
    body = file.body
    if file.zipped is not None and "gzip" in request.headers.get("accept-encoding", ""):
        body, headers["Content-Encoding"] = file.zipped, "gzip"
    return Response(body, headers=headers, media_type=file.media)
