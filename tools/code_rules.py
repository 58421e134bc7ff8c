"""Checks rules about code that no linter knows: file layout, names, and code that nothing uses.

Each rule is a function that takes the modules of `src` and yields one sentence per violation, so
that a test can feed it a module that breaks it (tests/unit/tools/test_code_rules.py).
"""

from __future__ import annotations

import ast
import re
import sys
import tokenize
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "rota"
BENCHMARK = ROOT / "src" / "rota_bench"
MODULE_LINES_MAX = 600
UNINFORMATIVE_MODULES = {
    "utils", "util", "helpers", "helper", "common", "base", "manager", "models", "misc",
}  # fmt: skip
STATEMENT = re.compile(r"\s*(select|insert into|update|delete from|with)\s", re.IGNORECASE)
# Modules that compose or keep SQL text on purpose; each gives its reason in its docstring.
MODULES_WITH_SQL = {
    "store/schema_migration.py",
    "store/migration_steps.py",
    "store/migration_watch.py",
    "store/partitions.py",
    "executors/sql/etl/load_statements.py",
    "sources/outbox/statements.py",
}
REGISTRY_HOST = re.compile(r"https?://")

# First words of a function that make a reader ask "what does it do?".
PARTICIPLES = {
    "added", "allowed", "among", "answered", "applied", "asked", "begun", "bound", "brought",
    "built", "called", "carried", "cast", "changed", "chosen", "claimed", "counted", "cut",
    "decided", "done", "drawn", "each", "ended", "filled", "found", "gathered", "given", "gone",
    "handed", "held", "kept", "known", "left", "looked", "made", "marked", "meant", "most", "named",
    "noted", "opened", "paid", "passed", "picked", "placed", "put_in", "reached", "said", "seen",
    "sent", "served", "settled", "shown", "spelled", "spent", "spoken", "stored", "taken",
    "thought", "told", "tried", "turned", "understood", "used", "wanted", "woken",
    "worded", "written",
}  # fmt: skip
# What a decorator turns into a value: a participle is fine there.
VALUE_DECORATORS = {"property", "cached_property", "contextmanager", "asynccontextmanager"}
GENERIC_CONSTANTS = {
    "AGAIN", "AHEAD", "ALL", "ANY", "AROUND", "AT_MOST", "BACKLOG", "BEFORE", "BEHIND", "DEEP",
    "EACH", "EMPTY", "ENOUGH", "EVERY", "FAR", "FEW", "FULL", "HELD", "KNOWN", "LATE", "LEAST",
    "LITTLE", "LONG", "LONGEST", "MANY", "MOST", "MUCH", "NEAR", "NONE", "NOTHING", "OFTEN", "OLD",
    "ONCE", "PLACE", "SHORT", "SHOWN", "SMALL", "SOON", "SOME", "STILL", "THESE", "TRIES", "USUAL",
    "WAIT", "WHOLE",
}  # fmt: skip


@dataclass(frozen=True)
class Module:
    """A module: its path below `src/rota` (below `src` for the benchmark), and its text."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def is_generated(self) -> bool:
        return "/generated/" in self.path

    @cached_property
    def identifiers(self) -> list[str]:
        """Every identifier, and every word of a string that could be one."""
        found: list[str] = []
        for token in tokenize.generate_tokens(StringIO(self.text).readline):
            if token.type == tokenize.NAME:
                found.append(token.string)
            elif token.type == tokenize.STRING and not token.string.startswith(('"""', "'''")):
                found += re.findall(r"[A-Za-z_]\w*", token.string)
        return found


def find_missing_docstrings(modules: Sequence[Module]) -> Iterator[str]:
    for module in modules:
        if module.text and ast.get_docstring(module.tree) is None:
            yield f"{module.path}: has no module docstring"


def find_long_modules(modules: Sequence[Module]) -> Iterator[str]:
    for module in modules:
        lines = len(module.text.splitlines())
        if lines > MODULE_LINES_MAX and not module.is_generated:
            yield f"{module.path}: has {lines} lines; split it (at most {MODULE_LINES_MAX})"


def find_uninformative_modules(modules: Sequence[Module]) -> Iterator[str]:
    for module in modules:
        if Path(module.path).stem in UNINFORMATIVE_MODULES:
            yield f"{module.path}: the name does not say what the module holds"


def find_stray_sql(modules: Sequence[Module]) -> Iterator[str]:
    for module in modules:
        if module.path in MODULES_WITH_SQL:
            continue
        docstrings = {id(node) for node in _find_docstrings(module.tree)}
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Constant) and id(node) not in docstrings and is_sql(node.value):
                yield f"{module.path}:{node.lineno}: SQL outside store/sql"


def is_sql(value: object) -> bool:
    """Prose may begin with these words, too; a statement names a table or a column list."""
    return (
        isinstance(value, str)
        and STATEMENT.match(value) is not None
        and re.search(r"\b(from|into|set|rota\.|as \()\b", value.lower()) is not None
    )


def _find_docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    """A docstring is prose, even if it begins with "Select" or "Update"."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        first = node.body[0] if node.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            yield first.value


def find_duplicate_classes(modules: Sequence[Module]) -> Iterator[str]:
    """A public class name exists once. The generated client mirrors the classes of the API."""
    places: dict[str, list[str]] = defaultdict(list)
    for module in modules:
        if module.is_generated:
            continue
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module.path)
    for name, paths in sorted(places.items()):
        if len(paths) > 1:
            yield f"class {name} is defined in {', '.join(paths)}; rename all but one"


def find_participle_functions(modules: Sequence[Module]) -> Iterator[str]:
    for module in modules:
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            first = node.name.strip("_").split("_")[0]
            if first in PARTICIPLES and not _is_value(node):
                yield (
                    f"{module.path}:{node.lineno}: function {node.name} is named by a participle "
                    "or pronoun; use a verb with an object"
                )


def _is_value(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    names = {ast.unparse(decorator).rsplit(".", 1)[-1] for decorator in node.decorator_list}
    return bool(names & VALUE_DECORATORS) or "setter" in names


def find_generic_constants(modules: Sequence[Module]) -> Iterator[str]:
    for module in modules:
        for node in module.tree.body:
            for name in _assigned_names(node):
                if name.strip("_") in GENERIC_CONSTANTS:
                    yield (
                        f"{module.path}:{node.lineno}: constant {name} does not say what it bounds "
                        "and in which unit"
                    )


def _assigned_names(node: ast.stmt) -> Iterator[str]:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id


# Names that code outside `src` uses, or that a framework calls by name.
USED_FROM_OUTSIDE = re.compile(
    r"^(test_|pytest_|visit_|do_|__)|^(main|run|load_tests|asgi|lifespan)$"
    # Read by tools that render files: the rules of core/states.py (state_guard.py), and the structs
    # of documents (reference/field_tables.py).
    r"|^(INITIAL_STATES|list_run_changes|find_document)$"
)


def read_entry_point_names() -> list[str]:
    """Return the names that the entry points of pyproject.toml import at run time."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["scripts"], *project["entry-points"].values()]
    return [target.partition(":")[2] for group in groups for target in group.values()]


def find_unused_names(modules: Sequence[Module]) -> Iterator[str]:
    """A module-level function, class or constant that neither `src` nor an entry point mentions."""
    counts: dict[str, int] = defaultdict(int, dict.fromkeys(read_entry_point_names(), 1))
    for module in modules:
        for name in module.identifiers:
            counts[name] += 1
    for module in modules:
        if module.is_generated or module.path.startswith(PUBLIC_PACKAGES):
            continue
        for node in module.tree.body:
            for name in _defined_names(node):
                if counts[name] == 1 and not USED_FROM_OUTSIDE.match(name):
                    yield f"{module.path}:{node.lineno}: nothing uses {name}; delete it"


# What users import: `rota.testing` and the names of the SDK; and the interfaces that plug-ins
# implement without a mention in `src`.
PUBLIC_PACKAGES = ("testing.py", "sdk/testing/", "sdk/webhooks.py", "core/executor.py")


def _defined_names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        if not node.decorator_list or _is_plain(node):
            yield node.name
    else:
        yield from _assigned_names(node)


def _is_plain(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Whether its decorators register it nowhere."""
    plain = {"dataclass", "contextmanager", "asynccontextmanager", "cache", "lru_cache", "final"}
    names = {re.split(r"[.(]", ast.unparse(each))[-1] for each in node.decorator_list}
    heads = {ast.unparse(each).split("(")[0].rsplit(".", 1)[-1] for each in node.decorator_list}
    return bool(node.decorator_list) and (names | heads) & plain != set() and heads <= plain


def find_unused_settings(modules: Sequence[Module]) -> Iterator[str]:
    """A setting that is declared in `config` and read nowhere."""
    read = {name for module in modules for name in _read_attributes(module)}
    for module in modules:
        if not module.path.startswith("config/"):
            continue
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                for line, name in _fields(node):
                    if name not in read:
                        yield f"{module.path}:{line}: nothing reads the setting {name}"


def _read_attributes(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _fields(node: ast.ClassDef) -> Iterator[tuple[int, str]]:
    for field in node.body:
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            yield field.lineno, field.target.id


RULES: tuple[Callable[[Sequence[Module]], Iterable[str]], ...] = (
    find_missing_docstrings,
    find_long_modules,
    find_uninformative_modules,
    find_stray_sql,
    find_duplicate_classes,
    find_participle_functions,
    find_generic_constants,
    find_unused_names,
    find_unused_settings,
)


def find_hosts_in_locks() -> Iterator[str]:
    for path in sorted((ROOT / "requirements").glob("*.lock")):
        if REGISTRY_HOST.search(path.read_text()):
            yield f"{path.relative_to(ROOT)}: names a registry host"


def read_modules() -> list[Module]:
    return [
        Module(path=str(path.relative_to(root)), text=path.read_text())
        for folder, root in ((SOURCE, SOURCE), (BENCHMARK, BENCHMARK.parent))
        for path in sorted(folder.rglob("*.py"))
    ]


def main() -> int:
    modules = read_modules()
    found = [problem for rule in RULES for problem in rule(modules)]
    found += find_hosts_in_locks()
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
