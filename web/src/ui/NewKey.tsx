// A key that was just made, for the only time that it is shown.
import { Button } from "./Button.tsx";
import { CopyButton } from "./Copy.tsx";
import { Dialog } from "./Dialog.tsx";
import { Note } from "./Notes.tsx";

export function NewKeyDialog({ made, close }: { made: { name: string; key: string }; close: () => void }) {
  return (
    <Dialog
      title={`The key ${made.name}`}
      close={close}
      foot={
        <Button look="primary" onClick={close}>
          I have kept it
        </Button>
      }
    >
      <Note tone="warn">This is the only time that it is shown: only a hash of it is stored.</Note>
      <div className="row">
        <code className="mono grow wrap" data-key>
          {made.key}
        </code>
        <CopyButton text={made.key} name="Copy the key" />
      </div>
    </Dialog>
  );
}
