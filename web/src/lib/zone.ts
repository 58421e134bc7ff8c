// The time zone of the whole page: the browser's, or UTC if the user chose it.
import { browserZone } from "./time.ts";

export type ZoneChoice = "browser" | "utc";
const KEY = "rota.zone";

export function readZoneChoice(): ZoneChoice {
  try {
    return localStorage.getItem(KEY) === "utc" ? "utc" : "browser";
  } catch {
    return "browser";
  }
}

/** The name of the chosen zone. */
export function zoneName(choice: ZoneChoice): string {
  return choice === "utc" ? "UTC" : browserZone();
}

/** Stores the choice and reloads, so that a page never mixes two zones. */
export function chooseZone(choice: ZoneChoice): void {
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // Without local storage the page shows the browser's zone.
  }
  window.location.reload();
}
