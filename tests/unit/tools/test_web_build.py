"""The build of the dashboard: when it is needed, what it needs, what its lock file must have."""

import gzip
import json
import os
import stat
import sys
from pathlib import Path

import pytest
from tools import npm_lock, web


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small checkout with a Node.js that copies instead of building."""
    source = tmp_path / "web"
    (source / "src").mkdir(parents=True)
    (source / "package.json").write_text("{}")
    (source / "package-lock.json").write_text(json.dumps({"packages": {"": {}}}))
    (source / "src" / "main.ts").write_text("let rota = 1")
    (source / "node_modules").mkdir()
    (source / "node_modules" / ".package-lock.json").write_text(json.dumps({"packages": {}}))
    node = tmp_path / "bin" / "node"
    node.parent.mkdir()
    node.write_text(NODE.format(python=sys.executable))
    node.chmod(node.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(web, "WEB", source)
    monkeypatch.setattr(web, "BUILT", tmp_path / "package" / "built")
    monkeypatch.setattr(web, "NODE_HOME", tmp_path / "nowhere")
    monkeypatch.setattr(web, "ROOT", tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join((str(node.parent), "/usr/bin", "/bin")))
    return tmp_path


NODE = """#!{python}
import pathlib, sys
if sys.argv[1] == "--version":
    print("v22.1.0")
    raise SystemExit
out = pathlib.Path(sys.argv[sys.argv.index("--outDir") + 1])
source = pathlib.Path("src/main.ts").read_text()
if "broken" in source:
    sys.exit("error: main.ts is broken")
out.mkdir(parents=True)
(out / "index.html").write_text("<!doctype html>" + source)
(out / "large.js").write_text("x" * 5000)
"""


def test_it_is_built_once_and_again_when_a_source_changed(checkout: Path) -> None:
    first, again = web.build(), web.build()
    (checkout / "web" / "src" / "main.ts").write_text("let rota = 2")
    changed = web.build()

    assert (first, again, changed) == (True, False, True)
    assert (web.BUILT / "index.html").read_text() == "<!doctype html>let rota = 2"


def test_tests_and_fetched_packages_are_no_reason_to_build(checkout: Path) -> None:
    web.build()

    (checkout / "web" / "src" / "main.test.ts").write_text("expect(1)")
    (checkout / "web" / "node_modules" / "x.js").write_text("1")

    assert not web.build()


def test_what_is_large_is_zipped_once(checkout: Path) -> None:
    web.build()

    assert gzip.decompress((web.BUILT / "large.js.gz").read_bytes()) == b"x" * 5000
    assert not (web.BUILT / "index.html.gz").exists()


def test_a_build_that_fails_leaves_the_old_one(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    web.build()
    (checkout / "web" / "src" / "main.ts").write_text("broken")

    failed, tolerated = web.main([]), web.main(["--if-possible"])

    assert (failed, tolerated) == (1, 0)
    assert "main.ts is broken" in capsys.readouterr().err
    assert (web.BUILT / "index.html").read_text() == "<!doctype html>let rota = 1"
    assert [path.name for path in web.BUILT.parent.iterdir()] == ["built"]


def test_without_node_one_line_says_what_is_needed(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(checkout))
    monkeypatch.setattr(sys, "path", [])

    code = web.main(["--if-possible"])

    said = capsys.readouterr().err.splitlines()
    assert code == 0
    assert len(said) == 1
    assert "Node.js 20.19 or newer is needed" in said[0]


@pytest.mark.parametrize(
    ("said", "is_enough"),
    [("v20.19.0", True), ("v24.1.0", True), ("v20.18.3", False), ("v18.20.0", False), ("?", False)],
)
def test_an_old_node_does_not_do(tmp_path: Path, said: str, is_enough: bool) -> None:
    node = tmp_path / "node"
    node.write_text(f"#!/bin/sh\necho {said}\n")
    node.chmod(0o755)

    assert web.is_new_enough(node) is is_enough


def test_packages_are_fetched_when_the_lock_asks_for_others(checkout: Path) -> None:
    lock = {"packages": {"": {}, "node_modules/a": {"version": "1.0.0"}}}
    (checkout / "web" / "package-lock.json").write_text(json.dumps(lock))
    missing = web.has_modules()
    there = {"packages": {"node_modules/a": {"version": "1.0.0"}}}
    (checkout / "web" / "node_modules" / ".package-lock.json").write_text(json.dumps(there))

    assert (missing, web.has_modules()) == (False, True)


def test_the_lock_file_names_no_host_and_has_all_platforms() -> None:
    assert list(npm_lock.faults(json.loads(npm_lock.LOCK.read_text()))) == []


def test_a_host_a_missing_platform_and_a_missing_hash_are_noticed() -> None:
    packages = {
        "": {"dependencies": {"a": "1.0.0"}},
        "node_modules/a": {
            "version": "1.0.0",
            "resolved": "https://somewhere.example/a-1.0.0.tgz",
            "integrity": "sha512-x",
            "optionalDependencies": {"@a/linux": "1.0.0", "@a/darwin": "1.0.0"},
            "funding": {"url": "https://example.org"},
        },
        "node_modules/@a/linux": {"version": "1.0.0"},
    }

    found = sorted(npm_lock.faults({"packages": packages}))

    assert [fault.split(":")[0] for fault in found] == [
        "node_modules/@a/linux has no hash",
        "node_modules/a has no @a/darwin",
        "node_modules/a names a host",
    ]
