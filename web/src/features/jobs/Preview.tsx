// What a schedule means: in words, and its next times with what daylight saving does to them.
import { useMemo } from "react";
import type { JobView, PreviewView } from "../../api/schema.gen.ts";
import { sentence } from "../../lib/words.ts";
import { Answered, Loading, Note } from "../../ui/Notes.tsx";
import { Time, ZONE } from "../../ui/Time.tsx";
import { type Live, usePreview } from "./preview.ts";

export function NextTimes({ job }: { job: JobView }) {
  const schedule = job.schedule;
  const asked = usePreview(schedule, 8);
  if (!schedule) return <p className="soft">It has no schedule: it runs when somebody runs it.</p>;
  return (
    <Answered asked={asked} what="its next times">
      {(found) => <Shown found={found} isHeld={job.status === "paused"} />}
    </Answered>
  );
}

/** While one types: what was there is shown until the answer to the next letter comes. */
export function LivePreview({ live, meaning }: { live: Live; meaning: string }) {
  if (!live.isAsked) return <p className="soft">{meaning}</p>;
  if (live.error) return <Note tone="warn">{sentence(live.error)}</Note>;
  return live.found ? <Shown found={live.found} isHeld={false} /> : <Loading what="the preview" />;
}

function Shown({ found, isHeld }: { found: PreviewView; isHeld: boolean }) {
  // An interval follows no clock on a wall.
  const isElsewhere = found.timezone !== ZONE && !(found.timezone === "UTC" && found.follows === "elapsed_time");
  const warnings = useMemo(() => found.warnings.filter((each) => each.code !== "ends" || found.upcoming.length > 0), [found]);
  return (
    <div className="stack" aria-live="polite">
      <p className="preview-sentence">{sentence(found.sentence)}</p>
      {isHeld && <Note small tone="warn" sign="pause">It is paused: none of these fires until it is resumed.</Note>}
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
        <p className="soft">No time is known yet.</p>
      )}
      {isElsewhere && found.upcoming.length > 0 && (
        <p className="faint">
          On the left in {ZONE}, on the right in {found.timezone}.
        </p>
      )}
      {warnings.map((each) => (
        <Note key={each.code} small tone="warn">
          {sentence(each.detail)}
        </Note>
      ))}
    </div>
  );
}

/** 2026-11-16T02:30:00+01:00 as its own clock shows it, and how far that is from UTC. */
function wall(local: string): string {
  return local.replace("T", " ").replace(/(:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/, "$1 $3");
}

