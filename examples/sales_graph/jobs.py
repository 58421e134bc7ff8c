"""Runs a graph: find the shops of a day, add up the sales of each, write one report.

Up to 10% of the shops may fail without failing the report, which says how many are missing. If the
graph fails, `ring` raises an alarm.
"""

import csv
import os
from pathlib import Path
from typing import Any

import rota

app = rota.App("sales")


def folder() -> Path:
    return Path(os.environ.get("SALES_FOLDER", "sales"))


@app.job()
def find_shops(day: str) -> list[str]:
    shops = sorted(file.stem for file in (folder() / day).glob("*.csv"))
    if not shops:
        raise rota.Fail(f"no sales files for {day}")
    return shops


@app.job(retries={"max": 1, "base": "100ms"})
def add_up(day: str, shop: str) -> dict[str, Any]:
    with (folder() / day / f"{shop}.csv").open() as file:
        return {"shop": shop, "cents": sum(int(row["cents"]) for row in csv.DictReader(file))}


@app.job()
def write_report(day: str, totals: list[dict[str, Any] | None], missing: int) -> int:
    lines = [f"{one['shop']}: {one['cents'] / 100:.2f}" for one in totals if one is not None]
    lines.append(f"missing: {missing}")
    (folder() / f"{day}.txt").write_text("\n".join(lines))
    return len(lines) - 1


@app.job()
def ring(text: str) -> None:
    with (folder() / "alarms.txt").open("a") as file:
        file.write(f"{text}\n")


@app.graph(cron="0 3 * * *", args={"day": "today"})
def close_of_business(day: str) -> None:
    shops = find_shops(day)
    totals = add_up.step(day, rota.item).map(over=shops, tolerate="10%", at_once=20)
    report = write_report.step(day, totals.results, totals["failed"])
    ring.step("no report of " + day).after(shops, totals, report).when("failure")
