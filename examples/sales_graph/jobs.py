"""A graph: find the shops of a day, add up each of them, write one report; ring if it fails.

A broken file of one shop does not stop the report of the others: one in ten may fail. The report
says how many are missing.
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
    found = sorted(file.stem for file in (folder() / day).glob("*.csv"))
    if not found:
        raise rota.Fail(f"there are no sales of {day}")
    return found


@app.job(retries={"max": 1, "base": "100ms"})
def add_up(day: str, shop: str) -> dict[str, Any]:
    with (folder() / day / f"{shop}.csv").open() as file:
        return {"shop": shop, "cents": sum(int(row["cents"]) for row in csv.DictReader(file))}


@app.job()
def write_report(day: str, totals: list[dict[str, Any] | None], missing: int) -> int:
    lines = [f"{each['shop']}: {each['cents'] / 100:.2f}" for each in totals if each is not None]
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
