// Shows JSON with syntax colours, always as text nodes.
import { type ReactNode, useMemo } from "react";
import { formatJson } from "../lib/json.ts";
import { CopyButton } from "./CopyButton.tsx";

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b/g;
/** Longer texts are shown without colours: a megabyte of spans would be slow. */
const COLOUR_MAX_CHARS = 40_000;

export function JsonView({ value, name = "JSON" }: { value: unknown; name?: string }) {
  const text = useMemo(() => formatJson(value), [value]);
  return (
    <div className="json-box">
      <div className="json-copy">
        <CopyButton text={text} name={`Copy ${name}`} />
      </div>
      <pre className="json" tabIndex={0} aria-label={name}>
        {text.length > COLOUR_MAX_CHARS ? text : colourJson(text)}
      </pre>
    </div>
  );
}

function colourJson(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const found of text.matchAll(TOKEN)) {
    const [all, string, colon, number, word] = found;
    parts.push(text.slice(end, found.index));
    end = found.index + all.length;
    const kind = string ? (colon ? "key" : "string") : number ? "number" : "word";
    parts.push(
      <span key={found.index} className={`json-${kind}`}>
        {string ?? number ?? word}
      </span>,
      colon ?? "",
    );
  }
  parts.push(text.slice(end));
  return parts;
}
