// Every page: its path, title, place in the navigation and lazily loaded component.
// A page is the default export of a file in its feature's folder. `needs` hides a page from users who
// may not call that operation; the API refuses the call anyway.
import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import type { NEEDS } from "../api/schema.gen.ts";
import type { IconName } from "../ui/Icon.tsx";

export interface Route {
  /** In wouter's syntax: /jobs/:id. */
  path: string;
  title: string;
  page: LazyExoticComponent<ComponentType>;
  needs?: keyof typeof NEEDS;
  nav?: { group: Group; icon: IconName; /** The key to press after "g". */ key: string };
}

export type Group = "Monitoring" | "Definitions" | "Operations" | "Administration";
export const GROUPS: readonly Group[] = ["Monitoring", "Definitions", "Operations", "Administration"];

type Load = () => Promise<{ default: ComponentType }>;
const route = (path: string, title: string, load: Load, rest: Pick<Route, "needs" | "nav"> = {}): Route => ({
  path,
  title,
  page: lazy(load),
  ...rest,
});

export const ROUTES: readonly Route[] = [
  route("/", "Overview", () => import("../features/overview/OverviewPage.tsx"), { nav: { group: "Monitoring", icon: "home", key: "o" } }),
  route("/runs", "Runs", () => import("../features/runs/RunsPage.tsx"), { nav: { group: "Monitoring", icon: "pulse", key: "r" } }),
  route("/runs/:id", "Run", () => import("../features/runs/RunPage.tsx")),
  route("/alerts", "Alerts", () => import("../features/alerts/AlertsPage.tsx"), { nav: { group: "Monitoring", icon: "alert", key: "l" } }),
  route("/alerts/:id", "Incident", () => import("../features/alerts/IncidentPage.tsx")),
  route("/calendar", "Calendar", () => import("../features/calendar/CalendarPage.tsx"), { nav: { group: "Monitoring", icon: "calendar", key: "c" } }),

  route("/tasks", "Tasks", () => import("../features/tasks/TasksPage.tsx"), { nav: { group: "Definitions", icon: "play", key: "x" } }),
  route("/tasks/:kind", "Task", () => import("../features/tasks/TaskPage.tsx")),
  route("/jobs", "Jobs", () => import("../features/jobs/JobsPage.tsx"), { nav: { group: "Definitions", icon: "list", key: "j" } }),
  route("/jobs/new", "New job", () => import("../features/jobs/NewJobPage.tsx"), { needs: "POST /v1/jobs" }),
  route("/jobs/:id", "Job", () => import("../features/jobs/JobPage.tsx")),
  route("/jobs/:id/edit", "Edit job", () => import("../features/jobs/EditJobPage.tsx"), { needs: "PATCH /v1/jobs/{job_id}" }),
  route("/graphs", "Graphs", () => import("../features/graphs/GraphsPage.tsx"), { nav: { group: "Definitions", icon: "graph", key: "g" } }),
  route("/graphs/:id", "Graph run", () => import("../features/graphs/GraphPage.tsx")),
  route("/events", "Events", () => import("../features/events/EventsPage.tsx"), { nav: { group: "Definitions", icon: "bolt", key: "e" } }),
  route("/backfills", "Backfills", () => import("../features/backfills/BackfillsPage.tsx"), { nav: { group: "Definitions", icon: "history", key: "b" } }),

  route("/dead-letters", "Dead letters", () => import("../features/deadletters/DeadLettersPage.tsx"), { nav: { group: "Operations", icon: "skull", key: "d" } }),
  route("/webhooks", "Webhooks", () => import("../features/webhooks/WebhooksPage.tsx"), { nav: { group: "Operations", icon: "out", key: "h" } }),
  route("/webhooks/:id", "Webhook", () => import("../features/webhooks/WebhookPage.tsx")),
  route("/queues", "Queues", () => import("../features/queues/QueuesPage.tsx"), { nav: { group: "Operations", icon: "stack", key: "q" } }),
  route("/workers", "Workers", () => import("../features/workers/WorkersPage.tsx"), { nav: { group: "Operations", icon: "chip", key: "w" } }),

  route("/tenants", "Tenants", () => import("../features/tenants/TenantsPage.tsx"), { needs: "GET /v1/tenants", nav: { group: "Administration", icon: "people", key: "t" } }),
  route("/keys", "Keys", () => import("../features/keys/KeysPage.tsx"), { needs: "GET /v1/keys", nav: { group: "Administration", icon: "key", key: "k" } }),
  route("/secrets", "Secrets", () => import("../features/secrets/SecretsPage.tsx"), { needs: "GET /v1/secrets", nav: { group: "Administration", icon: "lock", key: "s" } }),
  route("/audit", "Audit", () => import("../features/audit/AuditPage.tsx"), { needs: "GET /v1/audit", nav: { group: "Administration", icon: "book", key: "a" } }),
];
