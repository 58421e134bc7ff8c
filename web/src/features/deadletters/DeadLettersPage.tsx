// Dead letters: runs that need somebody, those that died alike together. A group can be looked at,
// let go again at a pace that its cause can bear, or taken off the list.
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
import { Time } from "../../ui/Time.tsx";
import { Group } from "./Group.tsx";
import { SPANS, find, fitting, keyOf, sinceOf } from "./model.ts";
import "./deadletters.css";

/** More groups than anybody reads; the search is over these. */
const MOST = 200;

export default function DeadLettersPage() {
  const [params, setParams] = useSearchParams();
  const set = (changes: Record<string, string | null>) => setParams(changed(params, changes), { replace: true });
  const span = oneOf(params.get("span"), SPANS);
  const since = useMemo(() => sinceOf(span, Date.now()), [span]);
  const groups = useAsk("GET /v1/dead-letters/groups", { query: { since, limit: MOST } }, { every: 15_000, on: ["run.ended"], keep: true });
  const chosen = find(groups.data?.data ?? [], params.get("group"));
  const search = params.get("q") ?? "";
  if (params.get("group") !== null && groups.data) {
    return <Group of={chosen ?? null} back={link("/dead-letters", { span: span === "month" ? null : span, q: search })} />;
  }
  return (
    <>
      <PageHead title="Dead letters" about="Runs that came to nothing and will not be tried again by themselves." />
      <Card flush>
        <Filters name="Which dead letters">
          <SearchField name="Search by job or error" value={search} change={(q) => set({ q })} />
          <Segments name="Time span" value={span} options={SPANS.map((each) => ({ value: each, label: `Last ${each}` }))} change={(next) => set({ span: next === "month" ? null : next })} />
        </Filters>
        <Answered asked={groups} what="the dead letters">
          {({ data }) => (
            <DataTable
              name="Dead letters by error"
              rows={fitting(data, search)}
              columns={COLUMNS(params)}
              rowKey={keyOf}
              href={(group) => hrefOf(group, params)}
              keys
              foot={`${count(total(fitting(data, search)), "dead letter")} in ${count(fitting(data, search).length, "group")}`}
              empty={
                <EmptyState title={search ? "Nothing fits." : "Nothing is dead."} sign="check" action={<ButtonLink href="/runs">Look at all runs</ButtonLink>}>
                  {search ? "Search for a part of a job's name or of an error." : "A run lands here when its last retry failed, or its worker was lost too often."}
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
        <span className="faint cut dead-job">{group.job_name ?? group.job_id}</span>
      </div>
    ),
  },
  {
    id: "job",
    head: "Job",
    show: "middle",
    cell: (group) => (
      <Link className="wrap" href={`/jobs/${group.job_id}`}>
        {group.job_name ?? group.job_id}
      </Link>
    ),
  },
  { id: "count", head: "Runs", num: true, cell: (group) => whole(group.count) },
  { id: "first", head: "First seen", show: "wide", cell: (group) => <Time at={group.first_seen} /> },
  { id: "last", head: "Last seen", cell: (group) => <Time at={group.last_seen} as="relative" /> },
];
