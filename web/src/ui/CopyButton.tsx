// A button that copies a text and confirms it.
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
      toast("The browser blocked copying. Select the text and copy it.", "bad");
    }
  };
  return <IconButton icon={isDone ? "check" : "copy"} name={isDone ? "Copied" : name} onClick={() => void copy()} />;
}
