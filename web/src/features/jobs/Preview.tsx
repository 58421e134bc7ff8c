// Explains a schedule: a sentence, and its next runs with the effects of daylight saving.
import { useMemo } from "react";
import type { JobView, PreviewView } from "../../api/schema.gen.ts";
import { toSentence } from "../../lib/words.ts";
import { QueryView, Loading, Note } from "../../ui/Notes.tsx";
import { TextWithTimes, Time, ZONE } from "../../ui/Time.tsx";
import { type LivePreviewState, usePreview } from "./preview.ts";

export function NextTimes({ job }: { job: JobView }) {
  const schedule = job.schedule;
  const preview = usePreview(schedule, 8);
  if (!schedule) return <p className="soft">No schedule: runs on demand only.</p>;
  return (
    <QueryView query={preview} what="next runs">
      {(found) => <PreviewText found={found} isHeld={job.status === "paused"} />}
    </QueryView>
  );
}

/** The preview while the user types: shows the previous answer until the next one arrives. */
export function LivePreview({ live, meaning }: { live: LivePreviewState; meaning: string }) {
  if (!live.isActive) return <p className="soft">{meaning}</p>;
  if (live.error) return <Note tone="warn">{toSentence(live.error)}</Note>;
  return live.preview ? <PreviewText found={live.preview} isHeld={false} /> : <Loading what="preview" />;
}

function PreviewText({ found, isHeld }: { found: PreviewView; isHeld: boolean }) {
  // An interval does not depend on a time zone.
  const isElsewhere = found.timezone !== ZONE && !(found.timezone === "UTC" && found.follows === "elapsed_time");
  const warnings = useMemo(() => found.warnings.filter((each) => each.code !== "ends" || found.upcoming.length > 0), [found]);
  return (
    <div className="stack" aria-live="polite">
      <p className="preview-sentence">
        <TextWithTimes text={toSentence(found.sentence)} />
      </p>
      {isHeld && <Note small tone="warn" icon="pause">Paused: no run starts until the job is resumed.</Note>}
      {found.upcoming.length > 0 ? (
        <ol className="preview-times" data-figure="job.next_times">
          {found.upcoming.map((each) => (
            <li key={each.at}>
              <Time at={each.due_at} />
              {isElsewhere && <span className="faint" title={found.timezone}>{wall(each.local)}</span>}
              {each.notes.map((note) => (
                <span key={note} className="preview-note">
                  {note}
                </span>
              ))}
            </li>
          ))}
        </ol>
      ) : (
        <p className="soft">Next runs are not known yet.</p>
      )}
      {isElsewhere && found.upcoming.length > 0 && (
        <p className="faint">
          Left: {ZONE}. Right: {found.timezone}, the schedule's time zone.
        </p>
      )}
      {warnings.map((each) => (
        <Note key={each.code} small tone="warn">
          {toSentence(each.detail)}
        </Note>
      ))}
    </div>
  );
}

/** 2026-11-16T02:30:00+01:00 as local time with its UTC offset. */
function wall(local: string): string {
  return local.replace("T", " ").replace(/(:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/, "$1 $3");
}

