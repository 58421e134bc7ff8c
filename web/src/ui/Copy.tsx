// Copies a text, and says that it did.
import { useState } from "react";
import { IconButton } from "./Button.tsx";
import { toast } from "./Toast.tsx";

export function CopyButton({ text, name = "Copy" }: { text: string; name?: string }) {
  const [isDone, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
      setTimeout(() => setDone(false), 1500);
    } catch {
      toast("The browser does not let this page copy; select the text instead.", "bad");
    }
  };
  return <IconButton sign={isDone ? "check" : "copy"} name={isDone ? "Copied" : name} onClick={() => void copy()} />;
}
