// Whether somebody is at the keyboard. A login ends when nobody uses it; requests that the page sends
// by itself say so, and do not keep it alive.

/** Somebody who has not touched anything for this long, in milliseconds, is away. */
const AWAY_AFTER = 60_000;

const TOUCHES = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"] as const;

let lastTouch = Date.now();

export function noteTouch(now = Date.now()): void {
  lastTouch = now;
}

export function watchTouches(target: EventTarget): void {
  for (const kind of TOUCHES) target.addEventListener(kind, () => noteTouch(), { capture: true, passive: true });
}

/** The header of a request that nobody asked for; none while somebody is there. */
export function idleHeaders(now = Date.now()): Record<string, string> {
  return now - lastTouch > AWAY_AFTER ? { "X-User-Idle": "1" } : {};
}
