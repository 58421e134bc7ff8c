// The logged-in session. The key is sent to the server once; afterwards the browser holds a cookie that
// scripts cannot read, and a CSRF token that every change must carry.
import { useSyncExternalStore } from "react";
import { REQUEST_TIMEOUT_MS, fetchOrThrow } from "./client.ts";
import { readProblem } from "./problem.ts";
import { NEEDS, ROLES } from "./schema.gen.ts";

export type Permission = (typeof NEEDS)[keyof typeof NEEDS];

export interface Session {
  key_id: string;
  name: string;
  tenant: string;
  role: keyof typeof ROLES;
  user_id: string | null;
  expires_at: string | null;
  permissions: Permission[];
  csrf_token: string;
  version: string;
}

/** `undefined`: not loaded yet. */
let current: Session | null | undefined;
const listeners = new Set<() => void>();

function setSession(next: Session | null): void {
  current = next;
  for (const notify of listeners) notify();
}

export function useSession(): Session | null | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
}

export function csrfToken(): string {
  return current?.csrf_token ?? "";
}

/** Ends the session after the API rejected it. */
export function endSession(): void {
  if (current) setSession(null);
}

/** Whether the session may call an operation; the dashboard hides everything else. */
export function may(operation: keyof typeof NEEDS): boolean {
  return current?.permissions.includes(NEEDS[operation]) ?? false;
}

/** Like `may`, and rerenders when the session changes. */
export function useMay(operation: keyof typeof NEEDS): boolean {
  return useSession()?.permissions.includes(NEEDS[operation]) ?? false;
}

async function sendSessionRequest(init: RequestInit): Promise<void> {
  const response = await fetchOrThrow("/ui/session", { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS), ...init });
  if (!response.ok) throw await readProblem(response);
  const body = (await response.json()) as { session: Session | null };
  setSession(body.session);
}

/** Loads the current session; called once at start. */
export function loadSession(): Promise<void> {
  return sendSessionRequest({ method: "GET" });
}

/** Logs in with an API key, or with the ticket of a log-in link. */
export function logIn(credentials: { key: string } | { ticket: string }): Promise<void> {
  return sendSessionRequest({
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify(credentials),
  });
}

export async function logOut(): Promise<void> {
  await fetchOrThrow("/ui/session", {
    method: "DELETE",
    headers: { "X-CSRF-Token": csrfToken() },
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  setSession(null);
}
