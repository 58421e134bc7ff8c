// Why an attempt failed: the error once, the user's own frames first, the other frames folded.
import { formatCount } from "../lib/figures.ts";
import { type Frame as TracedFrame, type TracedError, relationLabel, splitFrames } from "../lib/tracebacks.ts";
import { Card } from "./Card.tsx";

/** The card at the top of a failed run. */
export function ErrorCard({ message, errors }: { message: string; errors: readonly TracedError[] | null }) {
  return (
    <Card title="Error">
      <div className="stack">
        <p className="error-message mono wrap">{message}</p>
        {errors && <Traceback errors={errors} />}
      </div>
    </Card>
  );
}

/** The raised error and its causes. The caller shows the message of the first error. */
export function Traceback({ errors }: { errors: readonly TracedError[] }) {
  return (
    <div className="stack" role="group" aria-label="Traceback">
      {errors.map((error, place) => (
        <section key={place} className="traceback-error" style={{ marginLeft: 16 * error.depth }}>
          {error.relation !== "raised" && (
            <p className="wrap">
              <span className="soft">{relationLabel(error.relation)}</span> <span className="mono">{error.message ? `${error.type}: ${error.message}` : error.type}</span>
            </p>
          )}
          <Frames error={error} />
        </section>
      ))}
    </div>
  );
}

function Frames({ error }: { error: TracedError }) {
  const { first, folded } = splitFrames(error);
  return (
    <>
      <ol className="frames">
        {first.map((frame, place) => (
          <Frame key={place} frame={frame} />
        ))}
      </ol>
      {folded > 0 && (
        <details>
          <summary className="soft">{`All ${formatCount(error.frames.length + error.omitted_frames, "frame")}, ${folded} from Rota and libraries`}</summary>
          <ol className="frames">
            {error.frames.map((frame, place) => (
              <Frame key={place} frame={frame} />
            ))}
          </ol>
        </details>
      )}
    </>
  );
}

function Frame({ frame }: { frame: TracedFrame }) {
  return (
    <li className={frame.is_own ? "frame frame-own" : "frame"}>
      <span className="frame-place wrap">
        {frame.file}:{frame.line} <span className="soft">in</span> {frame.function}
      </span>
      {frame.code && <code className="frame-code wrap">{frame.code}</code>}
    </li>
  );
}
