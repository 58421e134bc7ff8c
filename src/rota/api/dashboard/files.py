"""The files of the dashboard as `make web` built them. Room: api/dashboard.

They are read into memory, a megabyte at most, and again when they were built anew. Names below
`assets/` have a hash of their contents in them and are kept by browsers for ever; the page itself
is asked for every time. A path that is nobody else's is the page too: the dashboard reads the rest
of the address by itself.
"""

import mimetypes
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

HOME: Final = Path(__file__).parent / "built"
PAGE: Final = "index.html"
FOR_EVER: Final = "public, max-age=31536000, immutable"
# Where programs ask: no page, whatever they accept.
OTHERS: Final = frozenset({"v1", "ui", "docs", "problems", "healthz", "readyz", "metrics"})
NOT_BUILT: Final = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Rota</title></head>
<body>
<h1>Rota is running</h1>
<p>The dashboard is not built. In a checkout of the source, <code>make web</code> builds it;
then load this page again. It needs Node.js 20.19 or newer.</p>
<p>The <a href="/docs">API</a> and the command line do without it.</p>
</body>
</html>
"""


class File(NamedTuple):
    body: bytes
    zipped: bytes | None
    media: str
    etag: str
    cached: str


@dataclass(slots=True)
class Files:
    """`home` is the folder; it may come, go and change while we serve."""

    home: Path = HOME
    _built: tuple[int, int] | None = None
    _files: dict[str, File] = field(default_factory=dict)

    def answer(self, request: Request) -> Response | None:
        """The file or the page that the path means; None if it is none of ours."""
        if request.method not in {"GET", "HEAD"}:
            return None
        path = request.url.path.removeprefix("/")
        self._read_again()
        file = self._files.get(path)
        if file is None:
            if path and not is_page(path, request.headers.get("accept", "")):
                return None
            file = self._files.get(PAGE)
            if file is None:
                return Response(NOT_BUILT, media_type="text/html")
        return answered(file, request)

    def _read_again(self) -> None:
        try:
            told = (self.home / PAGE).stat()
        except OSError:
            self._built, self._files = None, {}
            return
        built = (told.st_mtime_ns, told.st_ino)
        if built != self._built:
            self._files = read(self.home)
            self._built = built


def is_page(path: str, accept: str) -> bool:
    """Whether somebody with a browser asks, and for no file."""
    return path.partition("/")[0] not in OTHERS | {"assets"} and "text/html" in accept


def read(home: Path) -> dict[str, File]:
    found = {}
    for path in sorted(home.rglob("*")):
        if path.is_file() and path.suffix != ".gz" and not path.name.startswith("."):
            name = path.relative_to(home).as_posix()
            zipped = path.with_name(f"{path.name}.gz")
            body = path.read_bytes()
            found[name] = File(
                body=body,
                zipped=zipped.read_bytes() if zipped.is_file() else None,
                media=mimetypes.guess_type(name)[0] or "application/octet-stream",
                etag=f'"{sha256(body).hexdigest()[:20]}"',
                cached=FOR_EVER if name.startswith("assets/") else "no-cache",
            )
    return found


def answered(file: File, request: Request) -> Response:
    headers = {"ETag": file.etag, "Cache-Control": file.cached, "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == file.etag:
        return Response(status_code=304, headers=headers)
    body = file.body
    if file.zipped is not None and "gzip" in request.headers.get("accept-encoding", ""):
        body, headers["Content-Encoding"] = file.zipped, "gzip"
    return Response(body, headers=headers, media_type=file.media)
