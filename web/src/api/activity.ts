// Tracks whether the user is active. An idle login ends; a request that the page sends by itself is
// marked as idle and does not extend the login.

/** The user is idle after this long without input, in milliseconds. */
const IDLE_AFTER_MS = 60_000;

const ACTIVITY_EVENTS = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"] as const;

let lastActivity = Date.now();

export function recordActivity(now = Date.now()): void {
  lastActivity = now;
}

export function watchActivity(target: EventTarget): void {
  for (const kind of ACTIVITY_EVENTS) target.addEventListener(kind, () => recordActivity(), { capture: true, passive: true });
}

/** The header that marks a request as idle; empty while the user is active. */
export function idleHeaders(now = Date.now()): Record<string, string> {
  return now - lastActivity > IDLE_AFTER_MS ? { "X-User-Idle": "1" } : {};
}
