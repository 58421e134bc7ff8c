// Tenants: for whoever runs the installation. Their shares, what each may have, and keys for them.
import { useState } from "react";
import { usePages, useTell } from "../../api/queries.ts";
import type { KeyMade, TenantView } from "../../api/schema.gen.ts";
import { count } from "../../lib/figures.ts";
import { Button } from "../../ui/Button.tsx";
import { Card, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { ConfirmDialog, FormDialog } from "../../ui/Dialog.tsx";
import { SelectField, TextField } from "../../ui/Fields.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { NewKeyDialog } from "../../ui/NewKey.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { StateBadge } from "../../ui/State.tsx";
import { Time } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { QUOTAS, type QuotaName, quotasOf, quotasText, textsOf } from "./model.ts";

type Asked = { to: "make" } | { to: "change" | "pause" | "key"; tenant: TenantView } | null;

export default function TenantsPage() {
  const tenants = usePages("GET /v1/tenants", { query: { limit: 200 } }, { keep: true });
  const [asked, ask] = useState<Asked>(null);
  const [made, setMade] = useState<KeyMade | null>(null);
  const close = () => ask(null);
  const resume = useTell("POST /v1/tenants/{tenant_id}/resume", {
    spoils: ["GET /v1/tenants"],
    done: (tenant) => toast(`${tenant.name} goes on.`),
  });
  const go = (tenant: TenantView) =>
    resume.mutate({ path: { tenant_id: String(tenant.tenant_id) } }, { onError: (error) => toast(`${tenant.name} is still paused: ${error.message}.`, "bad") });
  const make = (
    <Button look="primary" sign="plus" onClick={() => ask({ to: "make" })}>
      New tenant
    </Button>
  );
  return (
    <>
      <PageHead title="Tenants" about="They share this installation and see nothing of each other.">
        {make}
      </PageHead>
      <Card flush>
        {tenants.error && <ErrorNote error={tenants.error} retry={tenants.again} />}
        {tenants.isPending && !tenants.error ? (
          <Loading what="the tenants" />
        ) : (
          <DataTable
            name="Tenants"
            rows={tenants.rows}
            columns={columnsOf(ask, go)}
            rowKey={(tenant) => String(tenant.tenant_id)}
            more={tenants}
            keys
            foot={count(tenants.rows.length, "tenant")}
            empty={<EmptyState title="There are no tenants." sign="people" action={make} />}
          />
        )}
      </Card>
      {asked?.to === "make" && <EditDialog tenant={null} close={close} />}
      {asked?.to === "change" && <EditDialog tenant={asked.tenant} close={close} />}
      {asked?.to === "pause" && <PauseDialog tenant={asked.tenant} close={close} />}
      {asked?.to === "key" && (
        <KeyDialog
          tenant={asked.tenant}
          close={close}
          done={(key) => {
            close();
            setMade(key);
          }}
        />
      )}
      {made && <NewKeyDialog made={made} close={() => setMade(null)} />}
    </>
  );
}

function columnsOf(ask: (asked: Asked) => void, go: (tenant: TenantView) => void): Column<TenantView>[] {
  return [
    { id: "name", head: "Tenant", cell: (tenant) => <span className="table-main wrap">{tenant.name}</span> },
    { id: "state", head: "State", cell: (tenant) => <StateBadge state={tenant.is_paused ? "paused" : "active"} /> },
    { id: "weight", head: "Share", num: true, cell: (tenant) => tenant.weight },
    { id: "quotas", head: "Quotas", show: "middle", cell: (tenant) => quotasText(tenant.quotas) || <span className="faint">defaults</span> },
    { id: "since", head: "Since", show: "wide", cell: (tenant) => <Time at={tenant.created_at} /> },
    {
      id: "actions",
      head: "",
      num: true,
      cell: (tenant) => (
        <Menu
          name={`Actions for ${tenant.name}`}
          items={[
            { label: "Change share and quotas", sign: "edit", act: () => ask({ to: "change", tenant }) },
            { label: "Make a key", sign: "key", act: () => ask({ to: "key", tenant }) },
            tenant.is_paused ? { label: "Resume", sign: "play", act: () => go(tenant) } : { label: "Pause", sign: "pause", act: () => ask({ to: "pause", tenant }) },
          ]}
        />
      ),
    },
  ];
}

function EditDialog({ tenant, close }: { tenant: TenantView | null; close: () => void }) {
  const [name, setName] = useState(tenant?.name ?? "");
  const [weight, setWeight] = useState(String(tenant?.weight ?? 1));
  const [texts, setTexts] = useState(() => textsOf(tenant?.quotas ?? {}));
  const { quotas, errors } = quotasOf(texts);
  const share = /^\d{1,4}$/.test(weight) && Number(weight) >= 1 && Number(weight) <= 1000 ? Number(weight) : null;
  const done = (told: TenantView) => {
    toast(tenant ? `${told.name} is changed.` : `${told.name} is made.`);
    close();
  };
  const make = useTell("POST /v1/tenants", { spoils: ["GET /v1/tenants"], done });
  const change = useTell("PATCH /v1/tenants/{tenant_id}", { spoils: ["GET /v1/tenants"], done });
  const used = tenant ? change : make;
  const act = () => {
    if (quotas === null || share === null) return;
    if (tenant) change.mutate({ path: { tenant_id: String(tenant.tenant_id) }, body: { weight: share, quotas } });
    else make.mutate({ body: { name: name.trim(), weight: share, quotas } });
  };
  const isComplete = quotas !== null && share !== null && name.trim() !== "";
  return (
    <FormDialog title={tenant ? `Change ${tenant.name}` : "New tenant"} close={close} action={tenant ? "Change" : "Make tenant"} act={act} busy={used.isPending} error={used.error} disabled={!isComplete}>
      {!tenant && <TextField label="Name" value={name} change={setName} autoFocus />}
      <TextField label="Share" inputMode="numeric" value={weight} change={setWeight} error={share === null ? "A whole number from 1 to 1000 is needed." : null} hint="Of busy workers, next to the other tenants." />
      {QUOTAS.map((each) => (
        <TextField
          key={each.name}
          label={each.label}
          value={texts[each.name]}
          change={(text) => setTexts({ ...texts, [each.name]: text } as Record<QuotaName, string>)}
          error={errors[each.name]}
          hint={`${each.hint} Empty for the default, none for no limit.`}
        />
      ))}
    </FormDialog>
  );
}

function PauseDialog({ tenant, close }: { tenant: TenantView; close: () => void }) {
  const pause = useTell("POST /v1/tenants/{tenant_id}/pause", {
    spoils: ["GET /v1/tenants"],
    done: () => {
      toast(`${tenant.name} is paused.`);
      close();
    },
  });
  return (
    <ConfirmDialog title={`Pause ${tenant.name}?`} close={close} action="Pause" act={() => pause.mutate({ path: { tenant_id: String(tenant.tenant_id) } })} busy={pause.isPending} error={pause.error}>
      <p>Nothing of this tenant starts any more; what runs goes on. Its people can still log in and look.</p>
    </ConfirmDialog>
  );
}

function KeyDialog({ tenant, close, done }: { tenant: TenantView; close: () => void; done: (key: KeyMade) => void }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState("admin");
  const make = useTell("POST /v1/tenants/{tenant_id}/keys", { done });
  return (
    <FormDialog
      title={`A key for ${tenant.name}`}
      close={close}
      action="Make key"
      act={() => make.mutate({ path: { tenant_id: String(tenant.tenant_id) }, body: { name: name.trim(), role: role as "admin" } })}
      busy={make.isPending}
      error={make.error}
      disabled={name.trim() === ""}
    >
      <TextField label="Name" value={name} change={setName} autoFocus hint="What it is for." />
      <SelectField label="Role" value={role} change={setRole} options={["viewer", "operator", "admin", "platform"]} hint={role === "platform" ? "May do everything, in every tenant." : "Within this tenant only."} />
    </FormDialog>
  );
}
