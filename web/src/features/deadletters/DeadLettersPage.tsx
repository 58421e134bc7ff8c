// Dead letters by task and error. A group can be inspected, requeued, edited or dropped.
import { useMemo } from "react";
import { Link, useSearchParams } from "wouter";
import { useApiQuery } from "../../api/queries.ts";
import type { DeadGroupView } from "../../api/schema.gen.ts";
import { formatCount, formatInteger } from "../../lib/figures.ts";
import { withQuery, linkTo, oneOf } from "../../lib/url.ts";
import { ButtonLink } from "../../ui/Button.tsx";
import { Card, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { SearchField, Segments } from "../../ui/Fields.tsx";
import { Filters } from "../../ui/Filters.tsx";
import { QueryView, EmptyState } from "../../ui/Notes.tsx";
import { Bars } from "../../ui/OutcomeStrip.tsx";
import { Time } from "../../ui/Time.tsx";
import { Group } from "./Group.tsx";
import { Jobs } from "./Jobs.tsx";
import { SPANS, filterGroups, keyOf, parseKey, sinceOf } from "./model.ts";
import "./deadletters.css";

/** The most groups that are loaded; the search covers these. */
const GROUP_LIMIT = 200;

export default function DeadLettersPage() {
  const [params, setParams] = useSearchParams();
  const set = (changes: Record<string, string | null>) => setParams(withQuery(params, changes), { replace: true });
  const span = oneOf(params.get("span"), SPANS);
  const since = useMemo(() => sinceOf(span, Date.now()), [span]);
  const groups = useApiQuery("GET /v1/dead-letters/groups", { query: { since, limit: GROUP_LIMIT } }, { every: 15_000, on: ["run.ended"], keepPrevious: true });
  const chosen = parseKey(params.get("group"));
  const search = params.get("q") ?? "";
  if (chosen) {
    return <Group {...chosen} since={since} back={linkTo("/dead-letters", { span: span === "month" ? null : span, q: search })} />;
  }
  return (
    <>
      <PageHead title="Dead letters" about="Runs that failed for good and will not be retried automatically, grouped by task and error." />
      <Card flush>
        <Filters name="Dead letter filters">
          <SearchField name="Search by task, job or error" value={search} change={(q) => set({ q })} />
          <Segments name="Time span" value={span} options={SPANS.map((option) => ({ value: option, label: `Last ${option}` }))} change={(next) => set({ span: next === "month" ? null : next })} />
        </Filters>
        <QueryView query={groups} what="dead letters">
          {({ data, is_partial }) => (
            <DataTable
              name="Dead letters by error"
              rows={filterGroups(data, search)}
              columns={COLUMNS(params)}
              rowKey={keyOf}
              href={(group) => hrefOf(group, params)}
              keys
              foot={`${formatCount(total(filterGroups(data, search)), "dead letter")} in ${formatCount(filterGroups(data, search).length, "group")}${is_partial ? " (newest dead letters only)" : ""}`}
              empty={
                <EmptyState title={search ? "No matches" : "No dead letters"} icon="check" action={<ButtonLink href="/runs">Show all runs</ButtonLink>}>
                  {search ? "Search for part of a task, a job or an error." : "A run becomes a dead letter when its retries run out or its workers are lost too often."}
                </EmptyState>
              }
            />
          )}
        </QueryView>
      </Card>
    </>
  );
}

function total(groups: readonly DeadGroupView[]): number {
  return groups.reduce((sum, group) => sum + group.count, 0);
}

function hrefOf(group: DeadGroupView, params: URLSearchParams): string {
  return `/dead-letters?${withQuery(params, { group: keyOf(group) }).toString()}`;
}

const COLUMNS = (params: URLSearchParams): Column<DeadGroupView>[] => [
  {
    id: "error",
    head: "Error",
    cell: (group) => (
      <div className="stack stack-tight dead-error">
        <Link className="table-main bad-text" href={hrefOf(group, params)}>
          {group.error_type}
        </Link>
        <span className="soft cut" title={group.message}>
          {group.message}
        </span>
        {group.frame && (
          <span className="faint cut mono" title={group.frame}>
            {group.frame}
          </span>
        )}
        <span className="faint cut dead-job">{group.kind}</span>
      </div>
    ),
  },
  { id: "task", head: "Task", show: "middle", cell: (group) => <span className="wrap">{group.kind}</span> },
  { id: "jobs", head: "Jobs", show: "wide", cell: (group) => <Jobs of={group} limit={2} /> },
  { id: "hours", head: "Last 24 hours", show: "middle", cell: (group) => <Bars name="Failures per hour, last 24 hours" counts={group.counts_per_hour} /> },
  { id: "count", head: "Runs", num: true, cell: (group) => formatInteger(group.count) },
  { id: "first", head: "First seen", show: "wide", cell: (group) => <Time at={group.first_seen} as="relative" /> },
  { id: "last", head: "Last seen", cell: (group) => <Time at={group.last_seen} as="relative" /> },
];
