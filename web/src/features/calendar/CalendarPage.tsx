// The calendar of ticks: a day by minutes or a week by hours, with busiest times and quiet windows.
import { useMemo } from "react";
import { Link, useSearchParams } from "wouter";
import { useApiQuery } from "../../api/queries.ts";
import type { LoadView } from "../../api/schema.gen.ts";
import { formatCount } from "../../lib/figures.ts";
import { formatTime } from "../../lib/time.ts";
import { withQuery, oneOf } from "../../lib/url.ts";
import { Button, IconButton } from "../../ui/Button.tsx";
import { Card, Figure, PageHead } from "../../ui/Card.tsx";
import { Segments } from "../../ui/Fields.tsx";
import { Filters } from "../../ui/Filters.tsx";
import { QueryView, EmptyState, Note } from "../../ui/Notes.tsx";
import { ZONE } from "../../ui/Time.tsx";
import { type Span, VIEWS, dateOf, describeEstimates, busiestCells, shiftDate, quietWindows, describeQuiet, rowsOf, spanOf, summarizeLoad } from "./model.ts";
import "./calendar.css";

type Set = (changes: Record<string, string | null>) => void;

export default function CalendarPage() {
  const [params, setParams] = useSearchParams();
  const set: Set = (changes) => setParams(withQuery(params, changes), { replace: true });
  const view = oneOf(params.get("view"), VIEWS);
  const date = useMemo(() => dateOf(params.get("day"), Date.now(), ZONE), [params]);
  const span = spanOf(view, date, ZONE);
  const query = { since: new Date(span.start).toISOString(), until: new Date(span.end).toISOString(), bucket: view === "day" ? ("minute" as const) : ("hour" as const) };
  const load = useApiQuery("GET /v1/schedules/load", { query }, { on: ["job.changed"], staleTime: 30_000, keepPrevious: true });
  const go = (by: number) => set({ day: shiftDate(view, date, by), at: null });
  return (
    <>
      <PageHead title="Calendar" about={`Planned ticks of all schedules, in ${ZONE}. Past days show the plan, not the actual runs.`} />
      <Card flush>
        <Filters name="Calendar range">
          <Segments name="View" value={view} options={[{ value: "day", label: "Day" }, { value: "week", label: "Week" }]} change={(next) => set({ view: next === "day" ? null : next, at: null })} />
          <IconButton icon="left" name={view === "day" ? "Previous day" : "Previous week"} onClick={() => go(-1)} />
          <strong>{titleOf(span)}</strong>
          <IconButton icon="right" name={view === "day" ? "Next day" : "Next week"} onClick={() => go(1)} />
          <Button small onClick={() => set({ day: null, at: null })}>
            Today
          </Button>
        </Filters>
        <QueryView query={load} what="schedules">
          {(found) => (
            <>
              {found.is_estimate && <Note small>{describeEstimates(found)}</Note>}
              <HeatMap span={span} load={found} at={params.get("at")} choose={(at) => set({ at })} />
            </>
          )}
        </QueryView>
      </Card>
      {load.data && <Summary span={span} load={load.data} choose={(at) => set({ at })} />}
      {params.get("at") && <CellDetails span={span} at={params.get("at") ?? ""} close={() => set({ at: null })} />}
    </>
  );
}

function titleOf(span: Span): string {
  const first = formatTime(span.start, ZONE, "minute").slice(0, 10);
  return span.view === "day" ? first : `${first} to ${formatTime(span.end - 1, ZONE, "minute").slice(0, 10)}`;
}

const SIZE = { day: { width: 14, height: 18 }, week: { width: 34, height: 30 } } as const;
const LABEL = 74;

function HeatMap({ span, load, at, choose }: { span: Span; load: LoadView; at: string | null; choose: (at: string) => void }) {
  const rows = useMemo(() => rowsOf(span, load, ZONE), [span, load]);
  const { width, height } = SIZE[span.view];
  const top = 18;
  if (load.buckets.length === 0) {
    return (
      <EmptyState icon="calendar" title="No ticks in this period">
        Choose another {span.view}, or create a job with a schedule.
      </EmptyState>
    );
  }
  return (
    <div className="heat-box" tabIndex={0} role="group" aria-label="Heat map">
      <svg className="heat" role="img" data-figure="calendar.cells" aria-label={`${summarizeLoad(load)} from ${titleOf(span)}`} width={LABEL + span.columns * width + 8} height={top + rows.length * height + 8}>
        {columnNames(span).map((name, column) => name && (
          <text key={column} x={LABEL + column * width} y={12} className="heat-name">
            {name}
          </text>
        ))}
        {rows.map((row, place) => (
          <g key={place} transform={`translate(0 ${top + place * height})`}>
            <text x={LABEL - 8} y={height / 2 + 4} className="heat-name" textAnchor="end">
              {row.label}
            </text>
            {row.cells.map((cell, column) => {
              const start = new Date(cell.start).toISOString();
              return (
                <rect
                  key={column}
                  x={LABEL + column * width}
                  width={width - 2}
                  height={height - 2}
                  rx={2}
                  className={`heat-cell heat-${cell.level} ${at === start ? "heat-chosen" : ""}`}
                  onClick={cell.ticks > 0 ? () => choose(start) : undefined}
                >
                  <title>{`${formatTime(cell.start, ZONE, "minute")}: ${formatCount(cell.ticks, "tick")}`}</title>
                </rect>
              );
            })}
          </g>
        ))}
      </svg>
    </div>
  );
}

function columnNames(span: Span): (string | null)[] {
  return Array.from({ length: span.columns }, (_, column) => {
    if (span.view === "week") return column % 3 === 0 ? `${String(column).padStart(2, "0")}:00` : null;
    return column % 10 === 0 ? `:${String(column).padStart(2, "0")}` : null;
  });
}

/** The heat map in words: busiest times and quiet windows. */
function Summary({ span, load, choose }: { span: Span; load: LoadView; choose: (at: string) => void }) {
  const full = busiestCells(load);
  const now = Date.now();
  const free = quietWindows(span, load, now > span.start && now < span.end ? now : span.start);
  return (
    <Card title="Summary">
      <div className="stack">
        <p>
          <Figure of="calendar.summary">{summarizeLoad(load)}</Figure>.{load.unknown > 0 && ` Not counted: ${formatCount(load.unknown, "job")} with a fixed delay after each run.`}
        </p>
        <p data-figure="calendar.quiet">{describeQuiet(free, span.view, ZONE)}</p>
        {full.length > 0 && (
          <div className="stack stack-tight">
            <span>Busiest times:</span>
            <ul className="busiest">
              {full.map((cell) => (
                <li key={cell.start}>
                  <button type="button" className="link-button" onClick={() => choose(new Date(cell.start).toISOString())}>
                    {formatTime(cell.start, ZONE, "minute")}
                  </button>
                  <span className="soft" data-figure="calendar.busiest">{formatCount(cell.ticks, "tick")}</span>
                </li>
              ))}
            </ul>
            <p className="soft">To spread the load, add jitter to the jobs or use H in their cron expressions.</p>
          </div>
        )}
      </div>
    </Card>
  );
}

/** The jobs that fire in one cell. */
function CellDetails({ span, at, close }: { span: Span; at: string; close: () => void }) {
  const start = Date.parse(at);
  const query = { since: at, until: new Date(start + span.cell).toISOString(), bucket: span.view === "day" ? ("minute" as const) : ("hour" as const) };
  const load = useApiQuery("GET /v1/schedules/load", { query }, { enabled: !Number.isNaN(start), staleTime: 30_000 });
  return (
    <Card title={`Ticks at ${formatTime(at, ZONE, "minute")}`} aside={<IconButton icon="cross" name="Close" onClick={close} />}>
      <QueryView query={load} what="jobs">
        {({ busiest }) =>
          busiest.length === 0 ? (
            <p className="soft">No ticks</p>
          ) : (
            <ul className="busiest">
              {busiest.map((job) => (
                <li key={job.job_id}>
                  <Link href={`/jobs/${job.job_id}`}>{job.job_name}</Link>
                  <span className="soft" data-figure="calendar.job">
                    {job.is_estimate ? "about " : ""}
                    {formatCount(job.ticks, "tick")}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </QueryView>
    </Card>
  );
}
