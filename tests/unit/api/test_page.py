"""The page of the API needs nobody else, and nothing that its security policy forbids (I1).

What it does in a browser is not tried here; what its pure parts say of a schema is, with node.
"""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest

FILES = {
    each.name: each.read_text("utf-8")
    for each in files("rota.api").joinpath("page").iterdir()
    if each.name.endswith((".html", ".css", ".js"))
}
SCRIPTS = sorted(name for name in FILES if name.endswith(".js"))
# Each would read text as code or as HTML, or keep the key longer than the tab lives.
FORBIDDEN = (
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "document.write",
    "DOMParser",
    "createContextualFragment",
    "srcdoc",
    "eval(",
    "Function(",
    "import(",
    "localStorage",
    "document.cookie",
    ".style.",
    "setTimeout('",
)
# The vocabulary of the documents that the page shows may have other addresses; the page has none.
ADDRESS = re.compile(r"(?:https?:|wss?:)?//[\w\[]", re.IGNORECASE)


class Elements(HTMLParser):
    """All elements with their attributes, and the text inside of scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.inline = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.found and self.found[-1][0] in {"script", "style"}:
            self.inline += data.strip()


@pytest.fixture(scope="module")
def elements() -> Elements:
    parser = Elements()
    parser.feed(FILES["index.html"])
    return parser


def test_nothing_is_inline(elements: Elements) -> None:
    attributes = {name for _, given in elements.found for name in given}

    assert elements.inline == ""
    assert "style" not in attributes
    assert not [name for name in attributes if name.startswith("on")]
    assert "style" not in {tag for tag, _ in elements.found}
    assert all("src" in given for tag, given in elements.found if tag == "script")


def test_the_parser_of_this_test_sees_what_is_inline() -> None:
    parser = Elements()
    parser.feed("<p onclick='x()' style='a'><script>x()</script><style>p{}</style>")

    assert parser.inline == "x()p{}"
    assert {"onclick", "style"} <= {name for _, given in parser.found for name in given}


def test_all_that_the_page_loads_lies_beside_it(elements: Elements) -> None:
    loaded = [
        given.get("src") or given.get("href") or ""
        for tag, given in elements.found
        if tag in {"script", "link", "img"}
    ]
    imported = [name for script in SCRIPTS for name in re.findall(r'from "(.+?)"', FILES[script])]

    assert {name for name in loaded if name != "data:,"} == {"/docs/page.css", "/docs/page.js"}
    assert imported
    assert {name.removeprefix("./") for name in imported} <= set(FILES)
    assert all(name.startswith("./") for name in imported)


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_file_names_no_other_host(name: str) -> None:
    # A comment may begin with two strokes, an address may not.
    lines = [re.sub(r"(^|\s)// .*$", "", line) for line in FILES[name].splitlines()]

    assert not [line for line in lines if ADDRESS.search(line)]


def test_the_style_loads_nothing() -> None:
    assert "@import" not in FILES["page.css"]
    assert "url(" not in FILES["page.css"]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_makes_text_and_never_html(name: str) -> None:
    assert [word for word in FORBIDDEN if word in FILES[name]] == []


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_file_is_short(name: str) -> None:
    assert len(FILES[name].splitlines()) < 400


def test_every_place_that_the_script_fills_is_on_the_page(elements: Elements) -> None:
    ids = {given["id"] for _, given in elements.found if "id" in given}
    wanted = set(re.findall(r'place\("(\w+)"\)', FILES["page.js"]))

    assert wanted
    assert wanted <= ids


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The page's scripts where node takes them for modules."""
    for name in SCRIPTS:
        (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    return tmp_path


def said(folder: Path, script: str) -> object:
    """What a script of ours prints as JSON."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node on this machine")
    ran = subprocess.run(
        [node, "--input-type=module", "-e", script],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


NODE = {"$ref": "#/components/schemas/Node"}
DOCUMENT = json.dumps(
    {
        "components": {
            "schemas": {
                "Node": {
                    "type": "object",
                    "required": ["name", "next"],
                    "properties": {
                        "name": {"type": "string", "minLength": 1},
                        "next": {
                            "anyOf": [{"type": "null"}, {"$ref": "#/components/schemas/Node"}]
                        },
                        "more": {"type": "array", "items": {"type": "integer"}},
                    },
                },
                "Around": {"$ref": "#/components/schemas/Around"},
            }
        }
    }
)


def test_a_shape_that_contains_itself_has_a_sample_and_a_type(folder: Path) -> None:
    found = said(
        folder,
        f"""
        import {{ sample, typeOf }} from "./schema.js";
        const document = {DOCUMENT};
        const node = {{ $ref: "#/components/schemas/Node" }};
        console.log(JSON.stringify([
            typeOf(document, node),
            typeOf(document, {{ type: "array", items: {{ anyOf: [node, {{ type: "null" }}] }} }}),
            typeOf(document, {{ enum: ["a", 1] }}),
            typeOf(document, {{ $ref: "#/components/schemas/Around" }}),
            typeOf(document, {{ $ref: "#/nowhere/at~1all" }}),
            Object.keys(sample(document, node)),
        ]));
        """,
    )

    assert found == [
        "Node",
        "array of Node or null",
        '"a" or 1',
        "anything",
        "anything",
        ["name", "next"],
    ]


def test_a_request_is_made_of_what_was_typed(folder: Path) -> None:
    found = said(
        folder,
        """
        import { curl, request } from "./trial.js";
        globalThis.location = { origin: "http://here" };
        const typed = (name, place, value, schema = {}) =>
            ({ name, in: place, schema, input: { value } });
        const fields = [
            typed("id", "path", "a/b?c"), typed("q", "query", "x y&z"), typed("none", "query", " "),
            typed("label", "query", "a, b", { type: "array" }),
            typed("Idempotency-Key", "header", "k"),
        ];
        const text = '{"it": "\\'s"}';
        const body = { type: "application/json", isRequired: true, input: { value: text } };
        const operation = { method: "post", path: "/v1/jobs/{id}", responses: { 200: {} } };
        const asked = request(operation, fields, body, "secret");
        let refusal = "";
        try {
            request(operation, fields, { ...body, input: { value: "{" } }, "");
        } catch (error) { refusal = error.message; }
        console.log(JSON.stringify([asked, curl(asked), refusal]));
        """,
    )

    assert isinstance(found, list)
    asked, command, refusal = found
    assert asked["url"] == "/v1/jobs/a%2Fb%3Fc?q=x+y%26z&label=a&label=b"
    assert asked["method"] == "POST"
    assert asked["headers"]["Authorization"] == "Bearer secret"
    assert asked["headers"]["Idempotency-Key"] == "k"
    assert "secret" not in command
    assert """'{"it": "'\\''s"}'""" in command
    assert refusal.startswith("The body is not JSON")
