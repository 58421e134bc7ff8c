// API keys of the tenant: who has which, made, shown once, revoked.
import { useState } from "react";
import { useSearchParams } from "wouter";
import { usePages, useTell } from "../../api/queries.ts";
import type { KeyMade, KeyView } from "../../api/schema.gen.ts";
import { useSession } from "../../api/session.ts";
import { count } from "../../lib/figures.ts";
import { changed } from "../../lib/url.ts";
import { Button } from "../../ui/Button.tsx";
import { Card, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { ConfirmDialog, FormDialog } from "../../ui/Dialog.tsx";
import { CheckField, SelectField, TextField } from "../../ui/Fields.tsx";
import { Filters } from "../../ui/Filters.tsx";
import { NewKeyDialog } from "../../ui/NewKey.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { StateBadge } from "../../ui/State.tsx";
import { Time, useNow } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { ROLES, stateOf } from "./model.ts";

export default function KeysPage() {
  const [params, setParams] = useSearchParams();
  const keys = usePages("GET /v1/keys", { query: { limit: 200 } }, { every: 30_000, keep: true });
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<KeyMade | null>(null);
  const [revoked, revoke] = useState<KeyView | null>(null);
  const now = useNow();
  const own = useSession()?.key_id;
  const withEnded = params.get("ended") === "yes";
  const rows = keys.rows.filter((key) => withEnded || stateOf(key, now) === "active");
  return (
    <>
      <PageHead title="Keys" about="Whoever has a key may do what its role allows, in this tenant.">
        <Button look="primary" sign="plus" onClick={() => setMaking(true)}>
          New key
        </Button>
      </PageHead>
      <Card flush>
        <Filters name="Which keys">
          <CheckField label="Also expired and revoked ones" checked={withEnded} change={(on) => setParams(changed(params, { ended: on ? "yes" : null }), { replace: true })} />
        </Filters>
        {keys.error && <ErrorNote error={keys.error} retry={keys.again} />}
        {keys.isPending && !keys.error ? (
          <Loading what="the keys" />
        ) : (
          <DataTable
            name="Keys"
            rows={rows}
            columns={columnsOf(now, own, revoke)}
            rowKey={(key) => key.key_id}
            more={keys}
            keys
            foot={count(rows.length, "key")}
            empty={
              <EmptyState title="There are no keys of this tenant." sign="key">
                Make one for each program and each person; then one can be revoked without the others.
              </EmptyState>
            }
          />
        )}
      </Card>
      {isMaking && (
        <MakeDialog
          close={() => setMaking(false)}
          done={(key) => {
            setMaking(false);
            setMade(key);
          }}
        />
      )}
      {made && <NewKeyDialog made={made} close={() => setMade(null)} />}
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
            {key.name} {key.key_id === own && <span className="label">this login</span>}
          </span>
          <span className="faint mono">rota_{key.handle}_…</span>
        </div>
      ),
    },
    { id: "role", head: "Role", cell: (key) => key.role },
    { id: "user", head: "User", show: "wide", cell: (key) => key.user_id ?? <span className="faint">–</span> },
    { id: "state", head: "State", cell: (key) => <StateBadge state={stateOf(key, now)} /> },
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

function MakeDialog({ close, done }: { close: () => void; done: (key: KeyMade) => void }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState("operator");
  const [user, setUser] = useState("");
  const [lifetime, setLifetime] = useState("90d");
  const make = useTell("POST /v1/keys", { spoils: ["GET /v1/keys"], done });
  const mine = useSession()?.role;
  const roles = ROLES.slice(0, mine === "operator" ? 2 : 3);
  return (
    <FormDialog
      title="New key"
      close={close}
      action="Make key"
      act={() => make.mutate({ body: { name: name.trim(), role: role as "viewer", user_id: user.trim() || null, lifetime } })}
      busy={make.isPending}
      error={make.error}
      disabled={name.trim() === ""}
    >
      <TextField label="Name" value={name} change={setName} autoFocus hint="What it is for, for example deployment." />
      <SelectField label="Role" value={role} change={setRole} options={roles} hint={roles.find((each) => each.value === role)?.hint} />
      <TextField label="User" value={user} change={setUser} hint="Optional: who is named in the audit log instead of the key." />
      <TextField label="Lifetime" value={lifetime} change={setLifetime} mono hint="As in 90d or 12h; a year at most." />
    </FormDialog>
  );
}

function RevokeDialog({ of: key, isOwn, close }: { of: KeyView; isOwn: boolean; close: () => void }) {
  const revoke = useTell("DELETE /v1/keys/{key_id}", {
    spoils: ["GET /v1/keys"],
    done: () => {
      toast(`${key.name} is revoked.`);
      close();
    },
  });
  return (
    <ConfirmDialog title={`Revoke ${key.name}?`} close={close} action="Revoke" act={() => revoke.mutate({ path: { key_id: key.key_id } })} busy={revoke.isPending} error={revoke.error}>
      <p>Within five seconds nobody can use it any more, and everybody who logged in with it is logged out. It cannot be brought back.</p>
      {isOwn && <p>You are logged in with this key.</p>}
    </ConfirmDialog>
  );
}
