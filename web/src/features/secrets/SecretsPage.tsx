// Secrets: written and never read.
import { useState } from "react";
import { usePages, useTell } from "../../api/queries.ts";
import type { SecretView } from "../../api/schema.gen.ts";
import { count } from "../../lib/figures.ts";
import { Button } from "../../ui/Button.tsx";
import { Card, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { ConfirmDialog, FormDialog } from "../../ui/Dialog.tsx";
import { AreaField, TextField } from "../../ui/Fields.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { Time } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";

type Asked = { to: "write"; name: string } | { to: "delete"; name: string } | null;

export default function SecretsPage() {
  const secrets = usePages("GET /v1/secrets", { query: { limit: 200 } });
  const [asked, ask] = useState<Asked>(null);
  const close = () => ask(null);
  const write = (
    <Button look="primary" sign="plus" onClick={() => ask({ to: "write", name: "" })}>
      New secret
    </Button>
  );
  return (
    <>
      <PageHead title="Secrets" about="Write-only: nobody can read a value back, not even here.">
        {write}
      </PageHead>
      <Card flush>
        {secrets.error && <ErrorNote error={secrets.error} retry={secrets.again} />}
        {secrets.isPending && !secrets.error ? (
          <Loading what="the secrets" />
        ) : (
          <DataTable
            name="Secrets"
            rows={secrets.rows}
            columns={columnsOf(ask)}
            rowKey={(secret) => secret.name}
            more={secrets}
            keys
            foot={count(secrets.rows.length, "secret")}
            empty={
              <EmptyState title="There are no secrets." sign="lock" action={write}>
                Keep passwords and tokens here instead of in payloads, which everybody who may look at jobs can read.
              </EmptyState>
            }
          />
        )}
      </Card>
      {asked?.to === "write" && <WriteDialog name={asked.name} close={close} />}
      {asked?.to === "delete" && <DeleteDialog name={asked.name} close={close} />}
    </>
  );
}

function columnsOf(ask: (asked: Asked) => void): Column<SecretView>[] {
  return [
    { id: "name", head: "Name", cell: (secret) => <span className="table-main mono wrap">{secret.name}</span> },
    { id: "version", head: "Version", num: true, cell: (secret) => secret.version },
    { id: "written", head: "Written", show: "middle", cell: (secret) => <Time at={secret.updated_at} as="relative" /> },
    {
      id: "actions",
      head: "",
      num: true,
      cell: (secret) => (
        <>
          <Button small onClick={() => ask({ to: "write", name: secret.name })} aria-label={`Replace ${secret.name}`}>
            Replace
          </Button>{" "}
          <Button small look="quiet" onClick={() => ask({ to: "delete", name: secret.name })} aria-label={`Delete ${secret.name}`}>
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
  const put = useTell("PUT /v1/secrets/{name}", {
    spoils: ["GET /v1/secrets"],
    done: (written) => {
      toast(`${written.name} is written, as version ${written.version}.`);
      close();
    },
  });
  return (
    <FormDialog
      title={given ? `Replace ${given}` : "New secret"}
      close={close}
      action="Write"
      act={() => put.mutate({ path: { name: name.trim() }, body: { value } })}
      busy={put.isPending}
      error={put.error}
      disabled={name.trim() === "" || value === ""}
    >
      <TextField label="Name" value={name} change={setName} mono disabled={given !== ""} autoFocus={given === ""} hint="For example smtp-password." />
      <AreaField label="Value" value={value} change={setValue} mono rows={4} autoFocus={given !== ""} hint="It is sealed before it is stored. A new value is a new version." />
    </FormDialog>
  );
}

function DeleteDialog({ name, close }: { name: string; close: () => void }) {
  const remove = useTell("DELETE /v1/secrets/{name}", {
    spoils: ["GET /v1/secrets"],
    done: () => {
      toast(`${name} is deleted.`);
      close();
    },
  });
  return (
    <ConfirmDialog title={`Delete ${name}?`} close={close} action="Delete" act={() => remove.mutate({ path: { name } })} busy={remove.isPending} error={remove.error}>
      <p>All its versions are deleted. What needs it will fail from now on.</p>
    </ConfirmDialog>
  );
}
