// The list of tasks, with their workers and their load in the last hour.
import { useMemo } from "react";
import { Link, useSearchParams } from "wouter";
import { usePagedQuery } from "../../api/queries.ts";
import type { TaskItem } from "../../api/schema.gen.ts";
import { formatCount } from "../../lib/figures.ts";
import { withQuery, taskPath } from "../../lib/url.ts";
import { ButtonLink } from "../../ui/Button.tsx";
import { Card, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { Picker, SearchField } from "../../ui/Fields.tsx";
import { Filters } from "../../ui/Filters.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { Time } from "../../ui/Time.tsx";
import { formatPartialCount, perMinute, formatShare } from "./model.ts";
import "./tasks.css";

const PAGE = 100;
const SERVED = [
  { value: "", label: "With or without workers" },
  { value: "true", label: "With workers" },
  { value: "false", label: "Without workers" },
];

export default function TasksPage() {
  const [params, setParams] = useSearchParams();
  const set = (changes: Record<string, string | null>) => setParams(withQuery(params, changes), { replace: true });
  const query = useMemo(() => queryOf(params), [params]);
  const tasks = usePagedQuery("GET /v1/tasks", { query }, { every: 10_000, keepPrevious: true });
  const isFiltered = [...params.keys()].length > 0;
  return (
    <>
      <PageHead title="Tasks" about="Kinds of work that workers can run." />
      <Card flush>
        <Filters name="Task filters">
          <SearchField name="Search tasks" value={params.get("q") ?? ""} change={(q) => set({ q })} />
          <Picker name="Workers" value={params.get("served") ?? ""} options={SERVED} change={(served) => set({ served })} />
        </Filters>
        {tasks.error && <ErrorNote error={tasks.error} retry={tasks.refetch} />}
        {tasks.isPending && !tasks.error ? (
          <Loading what="tasks" />
        ) : (
          <DataTable
            name="Tasks"
            rows={tasks.rows}
            columns={COLUMNS}
            rowKey={(task) => task.kind}
            href={(task) => taskPath(task.kind)}
            more={tasks}
            keys
            empty={isFiltered ? <NoMatches /> : <NoTasks />}
            foot={tasks.hasMore ? `First ${tasks.rows.length}` : formatCount(tasks.rows.length, "task")}
          />
        )}
      </Card>
    </>
  );
}

function queryOf(params: URLSearchParams) {
  const served = params.get("served");
  return {
    q: params.get("q") || undefined,
    served: served === "true" || served === "false" ? served === "true" : undefined,
    limit: PAGE,
  };
}

const COLUMNS: readonly Column<TaskItem>[] = [
  {
    id: "task",
    head: "Task",
    cell: (task) => (
      <div className="stack stack-tight task-name">
        <Link href={taskPath(task.kind)} className="table-main wrap">
          {task.kind}
        </Link>
        {task.description && <span className="soft task-about">{task.description}</span>}
      </div>
    ),
  },
  { id: "workers", head: "Workers", num: true, cell: (task) => (task.workers === 0 ? <span className="bad-text">none</span> : task.workers) },
  { id: "rate", head: "Runs per minute", num: true, show: "middle", cell: (task) => perMinute(task) },
  { id: "failed", head: "Failure rate", num: true, show: "middle", cell: (task) => formatShare(task.failure_rate) },
  { id: "running", head: "Running", num: true, show: "middle", cell: (task) => formatPartialCount(task.running, false) },
  { id: "waiting", head: "Waiting", num: true, cell: (task) => formatPartialCount(task.waiting, task.is_partial) },
  { id: "scheduled", head: "Scheduled", num: true, show: "wide", cell: (task) => formatPartialCount(task.scheduled, task.is_partial) },
  { id: "last", head: "Last run", show: "wide", cell: (task) => <Time at={task.last_run_at} as="relative" /> },
];

function NoMatches() {
  return (
    <EmptyState icon="search" title="No matches" action={<ButtonLink href="/tasks">Show all tasks</ButtonLink>}>
      The search looks at kinds and descriptions.
    </EmptyState>
  );
}

function NoTasks() {
  return (
    <EmptyState icon="chip" title="No tasks yet">
      A worker registers its tasks when it starts. Start one with <code>rota worker module:app</code>.
    </EmptyState>
  );
}
