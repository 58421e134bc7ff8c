// Shows the signing secret of a webhook, once.
import { Button } from "../../ui/Button.tsx";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { Note } from "../../ui/Notes.tsx";

export function SecretDialog({ secret, close }: { secret: string; close: () => void }) {
  return (
    <Dialog
      title="Signing secret"
      close={close}
      foot={
        <Button look="primary" onClick={close}>
          Done
        </Button>
      }
    >
      <Note tone="warn">Copy the secret now. Rota does not show it again. The receiver verifies the signatures of requests with it.</Note>
      <div className="row">
        <code className="wrap grow">{secret}</code>
        <CopyButton text={secret} name="Copy secret" />
      </div>
    </Dialog>
  );
}
