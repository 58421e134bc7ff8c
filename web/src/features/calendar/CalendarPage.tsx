// What fires when: a day by minutes or a week by hours, the herds in it, and the quiet windows.
import { useMemo } from "react";
import { Link, useSearchParams } from "wouter";
import { useAsk } from "../../api/queries.ts";
import type { LoadView } from "../../api/schema.gen.ts";
import { count } from "../../lib/figures.ts";
import { stamp } from "../../lib/time.ts";
import { changed, oneOf } from "../../lib/url.ts";
import { Button, IconButton } from "../../ui/Button.tsx";
import { Card, Figure, PageHead } from "../../ui/Card.tsx";
import { Segments } from "../../ui/Fields.tsx";
import { Filters } from "../../ui/Filters.tsx";
import { Answered, EmptyState, Note } from "../../ui/Notes.tsx";
import { ZONE } from "../../ui/Time.tsx";
import { type Span, VIEWS, dateOf, estimateSentence, herds, moved, quiet, quietSentence, rowsOf, spanOf, summary } from "./model.ts";
import "./calendar.css";

type Set = (changes: Record<string, string | null>) => void;

export default function CalendarPage() {
  const [params, setParams] = useSearchParams();
  const set: Set = (changes) => setParams(changed(params, changes), { replace: true });
  const view = oneOf(params.get("view"), VIEWS);
  const date = useMemo(() => dateOf(params.get("day"), Date.now(), ZONE), [params]);
  const span = spanOf(view, date, ZONE);
  const query = { since: new Date(span.start).toISOString(), until: new Date(span.end).toISOString(), bucket: view === "day" ? ("minute" as const) : ("hour" as const) };
  const load = useAsk("GET /v1/schedules/load", { query }, { on: ["job.changed"], staleTime: 30_000, keep: true });
  const go = (by: number) => set({ day: moved(view, date, by), at: null });
  return (
    <>
      <PageHead title="Calendar" about={`What the schedules ask for, in ${ZONE}; the past is shown as it was planned.`} />
      <Card flush>
        <Filters name="Which days">
          <Segments name="View" value={view} options={[{ value: "day", label: "Day" }, { value: "week", label: "Week" }]} change={(next) => set({ view: next === "day" ? null : next, at: null })} />
          <IconButton sign="up" name={view === "day" ? "The day before" : "The week before"} onClick={() => go(-1)} />
          <strong>{titleOf(span)}</strong>
          <IconButton sign="down" name={view === "day" ? "The next day" : "The next week"} onClick={() => go(1)} />
          <Button small onClick={() => set({ day: null, at: null })}>
            Today
          </Button>
        </Filters>
        <Answered asked={load} what="the schedules">
          {(found) => (
            <>
              {found.is_estimate && <Note small>{estimateSentence(found)}</Note>}
              <HeatMap span={span} load={found} at={params.get("at")} choose={(at) => set({ at })} />
            </>
          )}
        </Answered>
      </Card>
      {load.data && <Findings span={span} load={load.data} choose={(at) => set({ at })} />}
      {params.get("at") && <Moment span={span} at={params.get("at") ?? ""} close={() => set({ at: null })} />}
    </>
  );
}

function titleOf(span: Span): string {
  const first = stamp(span.start, ZONE, "minute").slice(0, 10);
  return span.view === "day" ? first : `${first} to ${stamp(span.end - 1, ZONE, "minute").slice(0, 10)}`;
}

const SIZE = { day: { width: 14, height: 18 }, week: { width: 34, height: 30 } } as const;
const LABEL = 74;

function HeatMap({ span, load, at, choose }: { span: Span; load: LoadView; at: string | null; choose: (at: string) => void }) {
  const rows = useMemo(() => rowsOf(span, load, ZONE), [span, load]);
  const { width, height } = SIZE[span.view];
  const top = 18;
  if (load.buckets.length === 0) {
    return (
      <EmptyState sign="calendar" title="Nothing fires in this time.">
        Look at another {span.view}, or make a job with a schedule.
      </EmptyState>
    );
  }
  return (
    <div className="heat-box" tabIndex={0} role="group" aria-label="Heat map">
      <svg className="heat" role="img" data-figure="calendar.cells" aria-label={`${summary(load)} from ${titleOf(span)}`} width={LABEL + span.columns * width + 8} height={top + rows.length * height + 8}>
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
                  <title>{`${stamp(cell.start, ZONE, "minute")}: ${count(cell.ticks, "tick")}`}</title>
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

/** What the picture shows, in words: where herds are, and where there is room. */
function Findings({ span, load, choose }: { span: Span; load: LoadView; choose: (at: string) => void }) {
  const full = herds(load);
  const now = Date.now();
  const free = quiet(span, load, now > span.start && now < span.end ? now : span.start);
  return (
    <Card title="In words">
      <div className="stack">
        <p>
          <Figure of="calendar.summary">{summary(load)}</Figure>.{load.unknown > 0 && ` ${count(load.unknown, "job")} more run again some time after they have ended.`}
        </p>
        <p data-figure="calendar.quiet">{quietSentence(free, span.view, ZONE)}</p>
        {full.length > 0 && (
          <div className="stack stack-tight">
            <span>Most at once:</span>
            <ul className="herds">
              {full.map((herd) => (
                <li key={herd.start}>
                  <button type="button" className="link-button" onClick={() => choose(new Date(herd.start).toISOString())}>
                    {stamp(herd.start, ZONE, "minute")}
                  </button>
                  <span className="soft" data-figure="calendar.herd">{count(herd.ticks, "tick")}</span>
                </li>
              ))}
            </ul>
            <p className="soft">A herd spreads out if its jobs have a jitter, or an H in their cron expressions.</p>
          </div>
        )}
      </div>
    </Card>
  );
}

/** Which jobs fire in one cell. */
function Moment({ span, at, close }: { span: Span; at: string; close: () => void }) {
  const start = Date.parse(at);
  const query = { since: at, until: new Date(start + span.cell).toISOString(), bucket: span.view === "day" ? ("minute" as const) : ("hour" as const) };
  const load = useAsk("GET /v1/schedules/load", { query }, { enabled: !Number.isNaN(start), staleTime: 30_000 });
  return (
    <Card title={`What fires at ${stamp(at, ZONE, "minute")}`} aside={<IconButton sign="cross" name="Close" onClick={close} />}>
      <Answered asked={load} what="the jobs">
        {({ busiest }) =>
          busiest.length === 0 ? (
            <p className="soft">Nothing fires then.</p>
          ) : (
            <ul className="herds">
              {busiest.map((job) => (
                <li key={job.job_id}>
                  <Link href={`/jobs/${job.job_id}`}>{job.job_name}</Link>
                  <span className="soft" data-figure="calendar.job">
                    {job.is_estimate ? "about " : ""}
                    {count(job.ticks, "tick")}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </Card>
  );
}
