// Dead letters by task and error. A group can be looked at, requeued at a pace, edited or dropped.
import { useMemo } from "react";
import { Link, useSearchParams } from "wouter";
import { useAsk } from "../../api/queries.ts";
import type { DeadGroupView } from "../../api/schema.gen.ts";
import { count, whole } from "../../lib/figures.ts";
import { changed, link, oneOf } from "../../lib/url.ts";
import { ButtonLink } from "../../ui/Button.tsx";
import { Card, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { SearchField, Segments } from "../../ui/Fields.tsx";
import { Filters } from "../../ui/Filters.tsx";
import { Answered, EmptyState } from "../../ui/Notes.tsx";
import { Bars } from "../../ui/Strip.tsx";
import { Time } from "../../ui/Time.tsx";
import { Group } from "./Group.tsx";
import { Jobs } from "./Jobs.tsx";
import { SPANS, fitting, keyOf, read, sinceOf } from "./model.ts";
import "./deadletters.css";

/** More groups than anybody reads; the search is over these. */
const MOST = 200;

export default function DeadLettersPage() {
  const [params, setParams] = useSearchParams();
  const set = (changes: Record<string, string | null>) => setParams(changed(params, changes), { replace: true });
  const span = oneOf(params.get("span"), SPANS);
  const since = useMemo(() => sinceOf(span, Date.now()), [span]);
  const groups = useAsk("GET /v1/dead-letters/groups", { query: { since, limit: MOST } }, { every: 15_000, on: ["run.ended"], keep: true });
  const chosen = read(params.get("group"));
  const search = params.get("q") ?? "";
  if (chosen) {
    return <Group {...chosen} since={since} back={link("/dead-letters", { span: span === "month" ? null : span, q: search })} />;
  }
  return (
    <>
      <PageHead title="Dead letters" about="Runs that failed for good, by task and error. Rota does not retry them by itself." />
      <Card flush>
        <Filters name="Which dead letters">
          <SearchField name="Search by task, job or error" value={search} change={(q) => set({ q })} />
          <Segments name="Time span" value={span} options={SPANS.map((each) => ({ value: each, label: `Last ${each}` }))} change={(next) => set({ span: next === "month" ? null : next })} />
        </Filters>
        <Answered asked={groups} what="the dead letters">
          {({ data, is_partial }) => (
            <DataTable
              name="Dead letters by error"
              rows={fitting(data, search)}
              columns={COLUMNS(params)}
              rowKey={keyOf}
              href={(group) => hrefOf(group, params)}
              keys
              foot={`${count(total(fitting(data, search)), "dead letter")} in ${count(fitting(data, search).length, "group")}${is_partial ? ", of the newest dead letters only" : ""}`}
              empty={
                <EmptyState title={search ? "No group matches." : "No dead letters."} sign="check" action={<ButtonLink href="/runs">Look at all runs</ButtonLink>}>
                  {search ? "Search for a part of a task, a job or an error." : "A run becomes a dead letter when its last retry failed, or its worker was lost too often."}
                </EmptyState>
              }
            />
          )}
        </Answered>
      </Card>
    </>
  );
}

function total(groups: readonly DeadGroupView[]): number {
  return groups.reduce((sum, group) => sum + group.count, 0);
}

function hrefOf(group: DeadGroupView, params: URLSearchParams): string {
  return `/dead-letters?${changed(params, { group: keyOf(group) }).toString()}`;
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
  { id: "count", head: "Runs", num: true, cell: (group) => whole(group.count) },
  { id: "first", head: "First seen", show: "wide", cell: (group) => <Time at={group.first_seen} /> },
  { id: "last", head: "Last seen", cell: (group) => <Time at={group.last_seen} as="relative" /> },
];
