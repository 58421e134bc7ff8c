// The list of tenants, for platform admins: weights, quotas and keys.
import { useState } from "react";
import { usePagedQuery, useApiMutation } from "../../api/queries.ts";
import type { CreatedKey, TenantView } from "../../api/schema.gen.ts";
import { formatCount } from "../../lib/figures.ts";
import { Button } from "../../ui/Button.tsx";
import { Card, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { ConfirmDialog, FormDialog } from "../../ui/Dialog.tsx";
import { SelectField, TextField } from "../../ui/Fields.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { NewKeyDialog } from "../../ui/NewKeyDialog.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Time } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { QUOTAS, type QuotaName, quotasOf, quotasText, textsOf } from "./model.ts";

type OpenDialog = { action: "create" } | { action: "edit" | "pause" | "key"; tenant: TenantView } | null;

export default function TenantsPage() {
  const tenants = usePagedQuery("GET /v1/tenants", { query: { limit: 200 } }, { keepPrevious: true });
  const [dialog, openDialog] = useState<OpenDialog>(null);
  const [created, setCreated] = useState<CreatedKey | null>(null);
  const close = () => openDialog(null);
  const resume = useApiMutation("POST /v1/tenants/{tenant_id}/resume", {
    invalidates: ["GET /v1/tenants"],
    done: (tenant) => toast(`Resumed ${tenant.name}`),
  });
  const resumeTenant = (tenant: TenantView) =>
    resume.mutate({ path: { tenant_id: String(tenant.tenant_id) } }, { onError: (error) => toast(`Could not resume ${tenant.name}: ${error.message}`, "bad") });
  const create = (
    <Button look="primary" icon="plus" onClick={() => openDialog({ action: "create" })}>
      Create tenant
    </Button>
  );
  return (
    <>
      <PageHead title="Tenants" about="Tenants share this installation and cannot see each other's data.">
        {create}
      </PageHead>
      <Card flush>
        {tenants.error && <ErrorNote error={tenants.error} retry={tenants.refetch} />}
        {tenants.isPending && !tenants.error ? (
          <Loading what="tenants" />
        ) : (
          <DataTable
            name="Tenants"
            rows={tenants.rows}
            columns={columnsOf(openDialog, resumeTenant)}
            rowKey={(tenant) => String(tenant.tenant_id)}
            more={tenants}
            keys
            foot={formatCount(tenants.rows.length, "tenant")}
            empty={<EmptyState title="No tenants" icon="people" action={create} />}
          />
        )}
      </Card>
      {dialog?.action === "create" && <EditDialog tenant={null} close={close} />}
      {dialog?.action === "edit" && <EditDialog tenant={dialog.tenant} close={close} />}
      {dialog?.action === "pause" && <PauseDialog tenant={dialog.tenant} close={close} />}
      {dialog?.action === "key" && (
        <KeyDialog
          tenant={dialog.tenant}
          close={close}
          done={(key) => {
            close();
            setCreated(key);
          }}
        />
      )}
      {created && <NewKeyDialog created={created} close={() => setCreated(null)} />}
    </>
  );
}

function columnsOf(openDialog: (dialog: OpenDialog) => void, resumeTenant: (tenant: TenantView) => void): Column<TenantView>[] {
  return [
    { id: "name", head: "Tenant", cell: (tenant) => <span className="table-main wrap">{tenant.name}</span> },
    { id: "state", head: "Status", cell: (tenant) => <StatusBadge status={tenant.is_paused ? "paused" : "active"} /> },
    { id: "weight", head: "Weight", num: true, cell: (tenant) => tenant.weight },
    { id: "quotas", head: "Quotas", show: "middle", cell: (tenant) => quotasText(tenant.quotas) || <span className="faint">defaults</span> },
    { id: "created", head: "Created", show: "wide", cell: (tenant) => <Time at={tenant.created_at} as="relative" /> },
    {
      id: "actions",
      head: "",
      num: true,
      cell: (tenant) => (
        <Menu
          name={`Actions for ${tenant.name}`}
          items={[
            { label: "Edit weight and quotas", icon: "edit", act: () => openDialog({ action: "edit", tenant }) },
            { label: "Create key", icon: "key", act: () => openDialog({ action: "key", tenant }) },
            tenant.is_paused ? { label: "Resume", icon: "play", act: () => resumeTenant(tenant) } : { label: "Pause", icon: "pause", act: () => openDialog({ action: "pause", tenant }) },
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
  const done = (saved: TenantView) => {
    toast(tenant ? `Saved ${saved.name}` : `Created tenant ${saved.name}`);
    close();
  };
  const create = useApiMutation("POST /v1/tenants", { invalidates: ["GET /v1/tenants"], done });
  const change = useApiMutation("PATCH /v1/tenants/{tenant_id}", { invalidates: ["GET /v1/tenants"], done });
  const used = tenant ? change : create;
  const act = () => {
    if (quotas === null || share === null) return;
    if (tenant) change.mutate({ path: { tenant_id: String(tenant.tenant_id) }, body: { weight: share, quotas } });
    else create.mutate({ body: { name: name.trim(), weight: share, quotas } });
  };
  const isComplete = quotas !== null && share !== null && name.trim() !== "";
  return (
    <FormDialog title={tenant ? `Edit ${tenant.name}` : "New tenant"} close={close} action={tenant ? "Save" : "Create tenant"} act={act} busy={used.isPending} error={used.error} disabled={!isComplete}>
      {!tenant && <TextField label="Name" value={name} change={setName} autoFocus />}
      <TextField label="Weight" inputMode="numeric" value={weight} change={setWeight} error={share === null ? "Must be a whole number from 1 to 1000." : null} hint="Share of busy workers relative to other tenants. Default: 1." />
      {QUOTAS.map((each) => (
        <TextField
          key={each.name}
          label={each.label}
          value={texts[each.name]}
          change={(text) => setTexts({ ...texts, [each.name]: text } as Record<QuotaName, string>)}
          error={errors[each.name]}
          hint={`${each.hint} Empty: default. none: no limit.`}
        />
      ))}
    </FormDialog>
  );
}

function PauseDialog({ tenant, close }: { tenant: TenantView; close: () => void }) {
  const pause = useApiMutation("POST /v1/tenants/{tenant_id}/pause", {
    invalidates: ["GET /v1/tenants"],
    done: () => {
      toast(`Paused ${tenant.name}`);
      close();
    },
  });
  return (
    <ConfirmDialog title={`Pause ${tenant.name}?`} close={close} action="Pause" act={() => pause.mutate({ path: { tenant_id: String(tenant.tenant_id) } })} busy={pause.isPending} error={pause.error}>
      <p>No run of this tenant starts until it is resumed. Active runs continue. Its users can still log in and read.</p>
    </ConfirmDialog>
  );
}

function KeyDialog({ tenant, close, done }: { tenant: TenantView; close: () => void; done: (key: CreatedKey) => void }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState("admin");
  const make = useApiMutation("POST /v1/tenants/{tenant_id}/keys", { done });
  return (
    <FormDialog
      title={`New key for ${tenant.name}`}
      close={close}
      action="Create key"
      act={() => make.mutate({ path: { tenant_id: String(tenant.tenant_id) }, body: { name: name.trim(), role: role as "admin" } })}
      busy={make.isPending}
      error={make.error}
      disabled={name.trim() === ""}
    >
      <TextField label="Name" value={name} change={setName} autoFocus hint="What the key is for." />
      <SelectField label="Role" value={role} change={setRole} options={["viewer", "operator", "admin", "platform"]} hint={role === "platform" ? "Full access to every tenant." : "Access to this tenant only."} />
    </FormDialog>
  );
}
