"""Writes the files that are rendered from others; `--check` only says whether they are current."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rota.api import resources
from rota.api.operations import catalogue
from rota.core import states

# This file is run by its path, so Python looks for modules beside it, not in the folder above.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools import render_client, render_types, state_guard
from tools.reference.api_page import RecordedResponse, render_reference
from tools.reference.cli_page import render_cli_markdown
from tools.reference.problems_page import render_problems_markdown
from tools.reference.settings_page import render_settings

ROOT = Path(__file__).resolve().parent.parent


def states_markdown() -> str:
    lines = [
        "# States",
        "",
        "Generated from `src/rota/core/states.py` by `make generate`.",
        "The database enforces the same tables (`src/rota/store/generated/state_guard.sql`).",
    ]
    for title, moves in (("A run", states.RUN_MOVES), ("A job", states.JOB_MOVES)):
        lines += ["", f"## {title}", "", "```mermaid", "stateDiagram-v2"]
        merged: dict[tuple[str, str], list[str]] = {}
        for (old, event), new in moves.items():
            merged.setdefault((old.value, new.value), []).append(event.value)
        lines += [f"    {old} --> {new}: {', '.join(e)}" for (old, new), e in merged.items()]
        lines += ["```", "", "| from | event | becomes |", "|---|---|---|"]
        lines += [
            f"| {old.value} | {event.value} | {new.value} |" for (old, event), new in moves.items()
        ]
    final = ", ".join(
        f"`{state.value}`" for state in states.RunState if state in states.FINAL_STATES
    )
    births = ", ".join(
        f"`{state.value}`" for state in states.RunState if state in states.INITIAL_STATES
    )
    lines += ["", f"Final states of a run, which never change: {final}.", ""]
    lines += [f"A tick is born as one of: {births}.", ""]
    return "\n".join(lines)


def api_markdown() -> str:
    """The answers are recorded by tests/integration/api/test_reference.py."""
    resources.load_operations()
    recorded = json.loads((ROOT / "tools/reference/answers.json").read_text())
    return render_reference(
        (ROOT / "tools/reference/introduction.md").read_text(),
        catalogue.operations,
        {name: RecordedResponse(**answer) for name, answer in recorded.items()},
    )


def client_markdown() -> str:
    resources.load_operations()
    introduction = (ROOT / "tools/reference/client.md").read_text()
    return render_client.client_markdown(catalogue.operations, introduction)


def client_shapes() -> str:
    resources.load_operations()
    return render_client.shapes_py(catalogue.operations)


def client_operations() -> str:
    resources.load_operations()
    return render_client.operations_py(catalogue.operations)


def dashboard_types() -> str:
    resources.load_operations()
    return render_types.types_ts(catalogue.operations)


RENDERED = {
    "src/rota/store/generated/state_guard.sql": state_guard.render_state_guard,
    "docs/reference/states.md": states_markdown,
    "docs/reference/settings.md": render_settings,
    "docs/reference/api.md": api_markdown,
    "docs/reference/client.md": client_markdown,
    "docs/reference/cli.md": render_cli_markdown,
    "docs/reference/problems.md": render_problems_markdown,
    "src/rota/sdk/client/generated/schemas.py": client_shapes,
    "src/rota/sdk/client/generated/operations.py": client_operations,
    "web/src/api/schema.gen.ts": dashboard_types,
    "web/src/api/job_fields.gen.ts": render_types.job_fields_ts,
}


def main(*, check: bool) -> int:
    stale = [name for name, render in RENDERED.items() if not is_current(name, render())]
    for name in stale:
        if check:
            print(f"{name} is not what its source renders; run `make generate`")
        else:
            (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / name).write_text(RENDERED[name]())
    return 1 if check and stale else 0


def is_current(name: str, text: str) -> bool:
    path = ROOT / name
    return path.is_file() and path.read_text() == text


if __name__ == "__main__":
    raise SystemExit(main(check="--check" in sys.argv[1:]))
