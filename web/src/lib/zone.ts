// The one time zone of the page: the browser's, or UTC if the viewer chose it.
import { ownZone } from "./time.ts";

export type ZoneChoice = "browser" | "utc";
const KEY = "rota.zone";

export function zoneChoice(): ZoneChoice {
  try {
    return localStorage.getItem(KEY) === "utc" ? "utc" : "browser";
  } catch {
    return "browser";
  }
}

/** The name of the zone that a choice means. */
export function zoneOf(choice: ZoneChoice): string {
  return choice === "utc" ? "UTC" : ownZone();
}

/** Keeps the choice and shows everything anew: a page never has times of two zones. */
export function chooseZone(choice: ZoneChoice): void {
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // A browser that keeps nothing shows its own zone.
  }
  window.location.reload();
}
