// Roles and statuses of API keys. Pure.
import type { KeyView } from "../../api/schema.gen.ts";

export const ROLES = [
  { value: "viewer", label: "viewer", hint: "Reads everything in the tenant except its keys." },
  { value: "operator", label: "operator", hint: "Also creates and changes jobs, and runs, cancels and replays them." },
  { value: "admin", label: "admin", hint: "Also manages keys, secrets and calendars, and reads the audit log." },
] as const;

export function stateOf(key: Pick<KeyView, "revoked_at" | "expires_at">, now: number): "active" | "revoked" | "expired" {
  if (key.revoked_at !== null) return "revoked";
  if (key.expires_at !== null && Date.parse(key.expires_at) <= now) return "expired";
  return "active";
}
