// The list of secrets. Values are write-only.
import { useState } from "react";
import { usePagedQuery, useApiMutation } from "../../api/queries.ts";
import type { SecretView } from "../../api/schema.gen.ts";
import { formatCount } from "../../lib/figures.ts";
import { Button } from "../../ui/Button.tsx";
import { Card, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { ConfirmDialog, FormDialog } from "../../ui/Dialog.tsx";
import { AreaField, TextField } from "../../ui/Fields.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { Time } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";

type OpenDialog = { action: "write"; name: string } | { action: "delete"; name: string } | null;

export default function SecretsPage() {
  const secrets = usePagedQuery("GET /v1/secrets", { query: { limit: 200 } });
  const [dialog, openDialog] = useState<OpenDialog>(null);
  const close = () => openDialog(null);
  const write = (
    <Button look="primary" icon="plus" onClick={() => openDialog({ action: "write", name: "" })}>
      Create secret
    </Button>
  );
  return (
    <>
      <PageHead title="Secrets" about="Write-only: values cannot be read back.">
        {write}
      </PageHead>
      <Card flush>
        {secrets.error && <ErrorNote error={secrets.error} retry={secrets.refetch} />}
        {secrets.isPending && !secrets.error ? (
          <Loading what="secrets" />
        ) : (
          <DataTable
            name="Secrets"
            rows={secrets.rows}
            columns={columnsOf(openDialog)}
            rowKey={(secret) => secret.name}
            more={secrets}
            keys
            foot={formatCount(secrets.rows.length, "secret")}
            empty={
              <EmptyState title="No secrets" icon="lock" action={write}>
                Store passwords and tokens here instead of in payloads, which every user who can view jobs can read.
              </EmptyState>
            }
          />
        )}
      </Card>
      {dialog?.action === "write" && <WriteDialog name={dialog.name} close={close} />}
      {dialog?.action === "delete" && <DeleteDialog name={dialog.name} close={close} />}
    </>
  );
}

function columnsOf(openDialog: (dialog: OpenDialog) => void): Column<SecretView>[] {
  return [
    { id: "name", head: "Name", cell: (secret) => <span className="table-main mono wrap">{secret.name}</span> },
    { id: "version", head: "Version", num: true, cell: (secret) => secret.version },
    { id: "updated", head: "Updated", show: "middle", cell: (secret) => <Time at={secret.updated_at} as="relative" /> },
    {
      id: "actions",
      head: "",
      num: true,
      cell: (secret) => (
        <>
          <Button small onClick={() => openDialog({ action: "write", name: secret.name })} aria-label={`Replace ${secret.name}`}>
            Replace
          </Button>{" "}
          <Button small look="quiet" onClick={() => openDialog({ action: "delete", name: secret.name })} aria-label={`Delete ${secret.name}`}>
            Delete
          </Button>
        </>
      ),
    },
  ];
}

function WriteDialog({ name: given, close }: { name: string; close: () => void }) {
  const [name, setName] = useState(given);
  const [value, setValue] = useState("");
  const put = useApiMutation("PUT /v1/secrets/{name}", {
    invalidates: ["GET /v1/secrets"],
    done: (secret) => {
      toast(`Saved ${secret.name} (version ${secret.version})`);
      close();
    },
  });
  return (
    <FormDialog
      title={given ? `Replace ${given}` : "New secret"}
      close={close}
      action="Save"
      act={() => put.mutate({ path: { name: name.trim() }, body: { value } })}
      busy={put.isPending}
      error={put.error}
      disabled={name.trim() === "" || value === ""}
    >
      <TextField label="Name" value={name} change={setName} mono disabled={given !== ""} autoFocus={given === ""} hint="For example smtp-password." />
      <AreaField label="Value" value={value} change={setValue} mono rows={4} autoFocus={given !== ""} hint="Encrypted before it is stored. Each new value is a new version." />
    </FormDialog>
  );
}

function DeleteDialog({ name, close }: { name: string; close: () => void }) {
  const remove = useApiMutation("DELETE /v1/secrets/{name}", {
    invalidates: ["GET /v1/secrets"],
    done: () => {
      toast(`Deleted ${name}`);
      close();
    },
  });
  return (
    <ConfirmDialog title={`Delete ${name}?`} close={close} action="Delete" act={() => remove.mutate({ path: { name } })} busy={remove.isPending} error={remove.error}>
      <p>Deletes all versions. Jobs that use the secret will fail.</p>
    </ConfirmDialog>
  );
}
