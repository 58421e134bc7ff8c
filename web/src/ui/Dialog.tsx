// Dialogs: the browser's own element, which traps the focus, closes on Escape and restores the focus.
import { type FormEvent, type ReactNode, useEffect, useId, useRef } from "react";
import { Button, IconButton } from "./Button.tsx";
import { ErrorNote } from "./Notes.tsx";

interface DialogProps {
  title: string;
  close: () => void;
  children: ReactNode;
  foot?: ReactNode;
  wide?: boolean;
}

/** Rendered while it is open; `close` must make its owner stop rendering it. */
export function Dialog({ title, close, children, foot, wide = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const name = useId();
  useEffect(() => {
    const dialog = element.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      className={`dialog ${wide ? "dialog-wide" : ""}`}
      aria-labelledby={name}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onMouseDown={(event) => {
        if (event.target === element.current) close();
      }}
    >
      <div className="dialog-head">
        <h2 id={name}>{title}</h2>
        <IconButton icon="cross" name="Close" onClick={close} />
      </div>
      {/* A dialog without buttons must be scrollable by keys as well. */}
      <div className="dialog-body" tabIndex={foot ? undefined : 0}>
        {children}
      </div>
      {foot && <div className="dialog-foot">{foot}</div>}
    </dialog>
  );
}

interface ActionDialogProps extends Omit<DialogProps, "foot"> {
  /** The verb on the button. */
  action: string;
  act: () => void;
  busy?: boolean;
  error?: unknown;
  danger?: boolean;
  disabled?: boolean;
}

/** A dialog with a form: Enter submits, Escape closes. Stays open with the error if the action fails. */
export function FormDialog({ action, act, busy = false, error, danger = false, disabled = false, children, ...frame }: ActionDialogProps) {
  const form = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!busy && !disabled) act();
  };
  return (
    <Dialog
      {...frame}
      foot={
        <>
          {/* "Cancel" beside "Cancel run" would be ambiguous. */}
          <Button onClick={frame.close}>{/cancel/i.test(action) ? "Back" : "Cancel"}</Button>
          <Button type="submit" form={form} look={danger ? "danger" : "primary"} disabled={busy || disabled}>
            {busy ? "Working…" : action}
          </Button>
        </>
      }
    >
      <form id={form} className="stack" onSubmit={submit} noValidate>
        {children}
        {error ? <ErrorNote error={error} /> : null}
      </form>
    </Dialog>
  );
}

/** Confirms an action that cannot be undone. */
export function ConfirmDialog(question: ActionDialogProps) {
  return <FormDialog danger {...question} />;
}
