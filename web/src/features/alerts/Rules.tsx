// Rules and routes. Rules come from rota.yaml, the API, `rota alerts rules` or this page.
import { useState } from "react";
import { useApiMutation, usePagedQuery } from "../../api/queries.ts";
import type { ExpectationView, RouteView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { formatCount } from "../../lib/figures.ts";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { ConfirmDialog } from "../../ui/Dialog.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { toast } from "../../ui/Toast.tsx";
import { RuleDialog } from "./RuleDialog.tsx";
import { type MatchFields, describeCondition, describeMatch, describeStep } from "./model.ts";

export function Rules() {
  const rules = usePagedQuery("GET /v1/expectations", { query: { limit: 50 } }, { every: 15_000, keepPrevious: true });
  const routes = usePagedQuery("GET /v1/routes", { query: { limit: 50 } }, { every: 15_000, keepPrevious: true });
  const mayDefine = useMay("PATCH /v1/expectations/{expectation_id}");
  const mayCreate = useMay("POST /v1/expectations");
  const [isCreating, create] = useState(false);
  const [deleting, askDelete] = useState<ExpectationView | null>(null);
  const update = useApiMutation("PATCH /v1/expectations/{expectation_id}", { invalidates: ["GET /v1/expectations"] });
  const toggle = (rule: ExpectationView) =>
    update.mutate(
      { path: { expectation_id: rule.expectation_id }, body: { enabled: !rule.enabled } },
      { onSuccess: () => toast(`${rule.enabled ? "Disabled" : "Enabled"} ${rule.name}`), onError: (error) => toast(`Could not change ${rule.name}: ${error.message}`, "bad") },
    );
  return (
    <>
      <Card
        flush
        title="Rules"
        aside={
          mayCreate && (
            <Button small icon="plus" onClick={() => create(true)}>
              Create rule
            </Button>
          )
        }
      >
        {rules.error && <ErrorNote error={rules.error} retry={rules.refetch} />}
        {rules.isPending && !rules.error ? (
          <Loading what="rules" />
        ) : (
          <DataTable
            name="Rules"
            rows={rules.rows}
            columns={columnsOf(mayDefine ? { toggle, askDelete } : null)}
            rowKey={(rule) => rule.expectation_id}
            more={rules}
            keys
            foot={formatCount(rules.rows.length, "rule")}
            empty={
              <EmptyState icon="filter" title="No rules">
                Rota checks its defaults and the <code>expect</code> of each job. A rule adds a condition for many jobs: <code>rota alerts rules create</code>, or <code>alerts:</code> in rota.yaml.
              </EmptyState>
            }
          />
        )}
      </Card>
      <Card flush title="Routes">
        {routes.error && <ErrorNote error={routes.error} retry={routes.refetch} />}
        {routes.isPending && !routes.error ? (
          <Loading what="routes" />
        ) : (
          <DataTable
            name="Routes"
            rows={routes.rows}
            columns={ROUTE_COLUMNS}
            rowKey={(route) => route.name}
            more={routes}
            empty={
              <EmptyState icon="merge" title="No routes">
                Messages go to the default channels, or to the channel that an alert names.
              </EmptyState>
            }
          />
        )}
      </Card>
      {isCreating && <RuleDialog close={() => create(false)} />}
      {deleting && <DeleteDialog rule={deleting} close={() => askDelete(null)} />}
    </>
  );
}

interface Acts {
  toggle: (rule: ExpectationView) => void;
  askDelete: (rule: ExpectationView) => void;
}

function columnsOf(acts: Acts | null): Column<ExpectationView>[] {
  const columns: Column<ExpectationView>[] = [
    {
      id: "name",
      head: "Rule",
      cell: (rule) => (
        <div className="stack stack-tight">
          <span className="table-main wrap">{rule.name}</span>
          <span className="soft wrap">{describeMatch(rule.match as MatchFields)}</span>
        </div>
      ),
    },
    { id: "when", head: "Condition", cell: (rule) => <span className="wrap">{describeCondition(rule.when)}</span> },
    { id: "severity", head: "Severity", show: "middle", cell: (rule) => <StatusBadge status={rule.severity} /> },
    { id: "to", head: "Reports to", show: "middle", cell: (rule) => rule.to ?? <span className="faint">default channels</span> },
    { id: "enabled", head: "State", show: "wide", cell: (rule) => <StatusBadge status={rule.enabled ? "active" : "disabled"} /> },
    { id: "project", head: "Project", show: "wide", cell: (rule) => rule.project ?? <span className="faint">–</span> },
  ];
  if (acts === null) return columns;
  return [
    ...columns,
    {
      id: "actions",
      head: "",
      num: true,
      cell: (rule) => (
        <Menu
          name={`Actions for ${rule.name}`}
          items={[
            { label: rule.enabled ? "Disable" : "Enable", icon: rule.enabled ? "pause" : "play", act: () => acts.toggle(rule) },
            { label: "Delete", icon: "trash", danger: true, act: () => acts.askDelete(rule) },
          ]}
        />
      ),
    },
  ];
}

const ROUTE_COLUMNS: readonly Column<RouteView>[] = [
  { id: "name", head: "Route", cell: (route) => <span className="table-main wrap">{route.name}</span> },
  {
    id: "steps",
    head: "Steps",
    cell: (route) => (
      <ol className="stack stack-tight">
        {route.steps.map((step, place) => (
          <li key={place} className="wrap">
            {describeStep(step)}
          </li>
        ))}
      </ol>
    ),
  },
  { id: "project", head: "Project", show: "wide", cell: (route) => route.project ?? <span className="faint">–</span> },
];

function DeleteDialog({ rule, close }: { rule: ExpectationView; close: () => void }) {
  const remove = useApiMutation("DELETE /v1/expectations/{expectation_id}", {
    invalidates: ["GET /v1/expectations", "GET /v1/incidents"],
    done: () => {
      toast(`Deleted ${rule.name}`);
      close();
    },
  });
  return (
    <ConfirmDialog title={`Delete ${rule.name}?`} close={close} action="Delete rule" act={() => remove.mutate({ path: { expectation_id: rule.expectation_id } })} busy={remove.isPending} error={remove.error}>
      <p>Its open incidents end.{rule.project && ` Project ${rule.project} declares it and creates it again with the next apply.`}</p>
    </ConfirmDialog>
  );
}
