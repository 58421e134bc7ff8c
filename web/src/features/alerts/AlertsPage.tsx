// Incidents by state, and in the other tabs silences, rules, channels and pings.
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { useApiMutation, usePagedQuery } from "../../api/queries.ts";
import type { IncidentView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { formatCount, formatInteger } from "../../lib/figures.ts";
import { linkTo, oneOf, withQuery } from "../../lib/url.ts";
import { Button } from "../../ui/Button.tsx";
import { Card, PageHead, Tabs } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { Picker, Segments } from "../../ui/Fields.tsx";
import { Filters } from "../../ui/Filters.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Time } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { Channels } from "./Channels.tsx";
import { Pings } from "./Pings.tsx";
import { Rules } from "./Rules.tsx";
import { SilenceDialog } from "./SilenceDialog.tsx";
import { Silences } from "./Silences.tsx";
import { SEVERITIES, STATES, type State, TABS, conditionLabel } from "./model.ts";
import "./alerts.css";

const LABELS = { incidents: "Incidents", silences: "Silences", rules: "Rules", channels: "Channels", pings: "Pings" };

export default function AlertsPage() {
  const [params] = useSearchParams();
  const tab = oneOf(params.get("tab"), TABS);
  const [isSilencing, silence] = useState(false);
  const maySilence = useMay("POST /v1/silences");
  return (
    <>
      <PageHead title="Alerts" about="What is not as expected, and the messages about it.">
        {maySilence && (
          <Button icon="pause" onClick={() => silence(true)}>
            Create silence
          </Button>
        )}
      </PageHead>
      <Tabs name="Alerts" at={tab} tabs={TABS.map((id) => ({ id, label: LABELS[id], href: linkTo("/alerts", { tab: id === "incidents" ? null : id }) }))} />
      {tab === "incidents" && <Incidents />}
      {tab === "silences" && <Silences />}
      {tab === "rules" && <Rules />}
      {tab === "channels" && <Channels />}
      {tab === "pings" && <Pings />}
      {isSilencing && <SilenceDialog close={() => silence(false)} />}
    </>
  );
}

function Incidents() {
  const [params, setParams] = useSearchParams();
  const set = (changes: Record<string, string | null>) => setParams(withQuery(params, changes), { replace: true });
  const state = oneOf(params.get("state"), STATES);
  const severity = oneOf(params.get("severity"), SEVERITIES);
  const incidents = usePagedQuery("GET /v1/incidents", { query: { state, severity: severity || undefined, limit: 50 } }, { every: 5_000, keepPrevious: true });
  return (
    <Card flush>
      <Filters name="Incident filters">
        <Segments name="State" value={state} options={STATES.map((value) => ({ value, label: value.charAt(0).toUpperCase() + value.slice(1) }))} change={(next) => set({ state: next === "open" ? null : next })} />
        <Picker name="Severity" value={severity} options={SEVERITIES.map((value) => ({ value, label: value || "Any severity" }))} change={(next) => set({ severity: next })} />
      </Filters>
      {incidents.error && <ErrorNote error={incidents.error} retry={incidents.refetch} />}
      {incidents.isPending && !incidents.error ? (
        <Loading what="incidents" />
      ) : (
        <DataTable
          name="Incidents"
          rows={incidents.rows}
          columns={COLUMNS}
          rowKey={(incident) => incident.incident_id}
          href={(incident) => `/alerts/${incident.incident_id}`}
          more={incidents}
          keys
          foot={formatCount(incidents.rows.length, "incident")}
          empty={<NoIncidents state={state} isFiltered={severity !== ""} />}
        />
      )}
    </Card>
  );
}

function NoIncidents({ state, isFiltered }: { state: State; isFiltered: boolean }) {
  return (
    <EmptyState icon="check" title={isFiltered ? "No matches" : `No ${state} incidents`}>
      {state === "open" ? "An incident opens when a job, queue or task does not meet an expectation." : "Incidents are kept as long as runs."}
    </EmptyState>
  );
}

const COLUMNS: readonly Column<IncidentView>[] = [
  { id: "severity", head: "Severity", cell: (incident) => <StatusBadge status={incident.severity} /> },
  {
    id: "incident",
    head: "Incident",
    cell: (incident) => (
      <div className="stack stack-tight">
        <Link className="table-main wrap" href={`/alerts/${incident.incident_id}`}>
          {incident.title}
        </Link>
        <span className="soft wrap">
          {conditionLabel(incident.condition)} · {incident.subject.kind} {incident.subject.name}
          {incident.is_flapping && " · flapping"}
        </span>
      </div>
    ),
  },
  { id: "opened", head: "Opened", cell: (incident) => <Time at={incident.opened_at} as="relative" /> },
  { id: "count", head: "Count", num: true, show: "middle", cell: (incident) => formatInteger(incident.count) },
  { id: "state", head: "State", show: "middle", cell: (incident) => <IncidentState incident={incident} /> },
  { id: "actions", head: "", num: true, show: "middle", cell: (incident) => <Acknowledge incident={incident} /> },
];

function IncidentState({ incident }: { incident: IncidentView }) {
  if (incident.state === "acknowledged" && incident.acknowledged_by) return <span className="soft wrap">by {incident.acknowledged_by}</span>;
  if (incident.state === "resolved") return <Time at={incident.resolved_at} as="relative" />;
  return <StatusBadge status={incident.silenced_until ? "silenced" : incident.state} bare />;
}

function Acknowledge({ incident }: { incident: IncidentView }) {
  const may = useMay("POST /v1/incidents/{incident_id}/acknowledge");
  const acknowledge = useApiMutation("POST /v1/incidents/{incident_id}/acknowledge", {
    invalidates: ["GET /v1/incidents", "GET /v1/problems"],
    done: () => toast("Acknowledged"),
  });
  if (!may || incident.state !== "open") return null;
  return (
    <Button
      small
      disabled={acknowledge.isPending}
      aria-label={`Acknowledge ${incident.title}`}
      onClick={() => acknowledge.mutate({ path: { incident_id: incident.incident_id } }, { onError: (error) => toast(`Could not acknowledge: ${error.message}`, "bad") })}
    >
      Acknowledge
    </Button>
  );
}
