// Shows a text of the API; what is between backticks is shown as code.
import { Fragment } from "react";
import { splitCode } from "../lib/words.ts";

export function CodeText({ text }: { text: string }) {
  return (
    <>
      {splitCode(text).map((part, place) => (
        <Fragment key={place}>{part.isCode ? <code>{part.text}</code> : part.text}</Fragment>
      ))}
    </>
  );
}
