// Shows a new API key. The key is shown only once.
import { Button } from "./Button.tsx";
import { CopyButton } from "./CopyButton.tsx";
import { Dialog } from "./Dialog.tsx";
import { Note } from "./Notes.tsx";

export function NewKeyDialog({ created, close }: { created: { name: string; key: string }; close: () => void }) {
  return (
    <Dialog
      title={`API key ${created.name}`}
      close={close}
      foot={
        <Button look="primary" onClick={close}>
          Done
        </Button>
      }
    >
      <Note tone="warn">Copy the key now. It is not shown again: Rota stores only a hash of it.</Note>
      <div className="row">
        <code className="mono grow wrap" data-key>
          {created.key}
        </code>
        <CopyButton text={created.key} name="Copy key" />
      </div>
    </Dialog>
  );
}
