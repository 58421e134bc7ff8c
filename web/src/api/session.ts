// Who is logged in. The key goes to the server once; after that there is a cookie that scripts
// cannot read, and a token that every change has to show.
import { useSyncExternalStore } from "react";
import { PATIENCE, fetched } from "./client.ts";
import { problemOf } from "./problem.ts";
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

/** `undefined`: not asked yet. */
let current: Session | null | undefined;
const listeners = new Set<() => void>();

function become(next: Session | null): void {
  current = next;
  for (const each of listeners) each();
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

/** The API does not know us any more. */
export function ended(): void {
  if (current) become(null);
}

/** Whether whoever is logged in may call an operation: what they may not is not shown. */
export function may(operation: keyof typeof NEEDS): boolean {
  return current?.permissions.includes(NEEDS[operation]) ?? false;
}

/** The same, and it renders again when somebody else logs in. */
export function useMay(operation: keyof typeof NEEDS): boolean {
  return useSession()?.permissions.includes(NEEDS[operation]) ?? false;
}

async function told(init: RequestInit): Promise<void> {
  const response = await fetched("/ui/session", { signal: AbortSignal.timeout(PATIENCE), ...init });
  if (!response.ok) throw await problemOf(response);
  const body = (await response.json()) as { session: Session | null };
  become(body.session);
}

/** Asks whether there is a session; called once, at the start. */
export function resume(): Promise<void> {
  return told({ method: "GET" });
}

/** With an API key, or with the ticket of a log-in link. */
export function logIn(with_: { key: string } | { ticket: string }): Promise<void> {
  return told({
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify(with_),
  });
}

export async function logOut(): Promise<void> {
  await fetched("/ui/session", {
    method: "DELETE",
    headers: { "X-CSRF-Token": csrfToken() },
    signal: AbortSignal.timeout(PATIENCE),
  });
  become(null);
}
