// The API keys of the tenant: create, show once, revoke.
import { useState } from "react";
import { useSearchParams } from "wouter";
import { usePagedQuery, useApiMutation } from "../../api/queries.ts";
import type { CreatedKey, KeyView } from "../../api/schema.gen.ts";
import { useSession } from "../../api/session.ts";
import { formatCount } from "../../lib/figures.ts";
import { withQuery } from "../../lib/url.ts";
import { Button } from "../../ui/Button.tsx";
import { Card, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { ConfirmDialog, FormDialog } from "../../ui/Dialog.tsx";
import { CheckField, SelectField, TextField } from "../../ui/Fields.tsx";
import { Filters } from "../../ui/Filters.tsx";
import { NewKeyDialog } from "../../ui/NewKeyDialog.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Time, useNow } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { ROLES, stateOf } from "./model.ts";

export default function KeysPage() {
  const [params, setParams] = useSearchParams();
  const keys = usePagedQuery("GET /v1/keys", { query: { limit: 200 } }, { every: 30_000, keepPrevious: true });
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<CreatedKey | null>(null);
  const [revoked, revoke] = useState<KeyView | null>(null);
  const now = useNow();
  const own = useSession()?.key_id;
  const withEnded = params.get("ended") === "yes";
  const rows = keys.rows.filter((key) => withEnded || stateOf(key, now) === "active");
  return (
    <>
      <PageHead title="Keys" about="A key grants the permissions of its role in this tenant.">
        <Button look="primary" icon="plus" onClick={() => setCreating(true)}>
          Create key
        </Button>
      </PageHead>
      <Card flush>
        <Filters name="Key filters">
          <CheckField label="Show expired and revoked" checked={withEnded} change={(on) => setParams(withQuery(params, { ended: on ? "yes" : null }), { replace: true })} />
        </Filters>
        {keys.error && <ErrorNote error={keys.error} retry={keys.refetch} />}
        {keys.isPending && !keys.error ? (
          <Loading what="keys" />
        ) : (
          <DataTable
            name="Keys"
            rows={rows}
            columns={columnsOf(now, own, revoke)}
            rowKey={(key) => key.key_id}
            more={keys}
            keys
            foot={formatCount(rows.length, "key")}
            empty={
              <EmptyState title="No keys" icon="key">
                Create one key per program and person, so that each can be revoked separately.
              </EmptyState>
            }
          />
        )}
      </Card>
      {isCreating && (
        <CreateDialog
          close={() => setCreating(false)}
          done={(key) => {
            setCreating(false);
            setCreated(key);
          }}
        />
      )}
      {created && <NewKeyDialog created={created} close={() => setCreated(null)} />}
      {revoked && <RevokeDialog of={revoked} isOwn={revoked.key_id === own} close={() => revoke(null)} />}
    </>
  );
}

function columnsOf(now: number, own: string | undefined, revoke: (key: KeyView) => void): Column<KeyView>[] {
  return [
    {
      id: "name",
      head: "Name",
      cell: (key) => (
        <div className="stack stack-tight">
          <span className="table-main wrap">
            {key.name} {key.key_id === own && <span className="label">current login</span>}
          </span>
          <span className="faint mono">rota_{key.handle}_…</span>
        </div>
      ),
    },
    { id: "role", head: "Role", cell: (key) => key.role },
    { id: "user", head: "User id", show: "wide", cell: (key) => key.user_id ?? <span className="faint">–</span> },
    { id: "state", head: "Status", cell: (key) => <StatusBadge status={stateOf(key, now)} /> },
    { id: "used", head: "Last used", show: "middle", cell: (key) => <Time at={key.used_at} as="relative" /> },
    { id: "expires", head: "Expires", show: "wide", cell: (key) => (key.expires_at ? <Time at={key.expires_at} as="relative" /> : <span className="faint">never</span>) },
    {
      id: "actions",
      head: "",
      num: true,
      cell: (key) =>
        stateOf(key, now) === "active" && (
          <Button small look="quiet" onClick={() => revoke(key)} aria-label={`Revoke ${key.name}`}>
            Revoke
          </Button>
        ),
    },
  ];
}

function CreateDialog({ close, done }: { close: () => void; done: (key: CreatedKey) => void }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState("operator");
  const [user, setUser] = useState("");
  const [lifetime, setLifetime] = useState("90d");
  const create = useApiMutation("POST /v1/keys", { invalidates: ["GET /v1/keys"], done });
  const mine = useSession()?.role;
  const roles = ROLES.slice(0, mine === "operator" ? 2 : 3);
  return (
    <FormDialog
      title="New key"
      close={close}
      action="Create key"
      act={() => create.mutate({ body: { name: name.trim(), role: role as "viewer", user_id: user.trim() || null, lifetime } })}
      busy={create.isPending}
      error={create.error}
      disabled={name.trim() === ""}
    >
      <TextField label="Name" value={name} change={setName} autoFocus hint="What the key is for, for example deployment." />
      <SelectField label="Role" value={role} change={setRole} options={roles} hint={roles.find((each) => each.value === role)?.hint} />
      <TextField label="User id" value={user} change={setUser} hint="Optional. Shown in the audit log instead of the key." />
      <TextField label="Lifetime" value={lifetime} change={setLifetime} mono hint="For example 90d or 12h; at most one year." />
    </FormDialog>
  );
}

function RevokeDialog({ of: key, isOwn, close }: { of: KeyView; isOwn: boolean; close: () => void }) {
  const revoke = useApiMutation("DELETE /v1/keys/{key_id}", {
    invalidates: ["GET /v1/keys"],
    done: () => {
      toast(`Revoked ${key.name}`);
      close();
    },
  });
  return (
    <ConfirmDialog title={`Revoke ${key.name}?`} close={close} action="Revoke" act={() => revoke.mutate({ path: { key_id: key.key_id } })} busy={revoke.isPending} error={revoke.error}>
      <p>The key stops working within five seconds, and every user who logged in with it is logged out. This cannot be undone.</p>
      {isOwn && <p>You are logged in with this key.</p>}
    </ConfirmDialog>
  );
}
