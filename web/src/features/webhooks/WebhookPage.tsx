// The page of a webhook endpoint: health, the last deliveries, and the request and answer of each.
import { useState } from "react";
import { Link, useLocation, useParams, useSearchParams } from "wouter";
import { useApiMutation, useApiQuery, usePagedQuery } from "../../api/queries.ts";
import type { DeliveryView, WebhookView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { formatCount } from "../../lib/figures.ts";
import { linkTo, oneOf, withQuery } from "../../lib/url.ts";
import { Button, ButtonLink } from "../../ui/Button.tsx";
import { Card, Facts, PageHead } from "../../ui/Card.tsx";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { ConfirmDialog, FormDialog } from "../../ui/Dialog.tsx";
import { ChoiceField, Picker, TextField } from "../../ui/Fields.tsx";
import { Filters } from "../../ui/Filters.tsx";
import { type Item, Menu } from "../../ui/Menu.tsx";
import { EmptyState, ErrorNote, Loading, Note, QueryView } from "../../ui/Notes.tsx";
import { TickStrip } from "../../ui/OutcomeStrip.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Time, ZONE } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { DeliveryDialog } from "./DeliveryDialog.tsx";
import { SecretDialog } from "./SecretDialog.tsx";
import { DELIVERY_STATES, describeDisabled, describeSubscription, healthOf, summarizeDeliveries, toOutcomes } from "./model.ts";

const STRIP_LENGTH = 100;
const SPOILS = ["GET /v1/webhooks", "GET /v1/webhooks/{webhook_id}", "GET /v1/webhooks/{webhook_id}/deliveries", "GET /v1/problems"] as const;

export default function WebhookPage() {
  const { id = "" } = useParams<{ id: string }>();
  const webhook = useApiQuery("GET /v1/webhooks/{webhook_id}", { path: { webhook_id: id } }, { every: 5_000 });
  if (webhook.error && "status" in webhook.error && (webhook.error.status === 404 || webhook.error.status === 422)) {
    return (
      <EmptyState icon="search" title="Webhook not found" action={<ButtonLink href="/webhooks">Show all webhooks</ButtonLink>}>
        It was deleted or belongs to another tenant.
      </EmptyState>
    );
  }
  return (
    <QueryView query={webhook} what="webhook">
      {(found) => <Loaded key={found.webhook_id} webhook={found} />}
    </QueryView>
  );
}

function Loaded({ webhook }: { webhook: WebhookView }) {
  return (
    <>
      <PageHead
        title={webhook.name}
        trail={<Link href="/webhooks">Webhooks</Link>}
        about={
          <span className="row">
            <StatusBadge status={healthOf(webhook)} />
            <span className="wrap">{webhook.url}</span>
          </span>
        }
      >
        <Actions webhook={webhook} />
      </PageHead>
      <Health webhook={webhook} />
      <Strip webhook={webhook} />
      <Deliveries webhook={webhook} />
      <Card title="Details">
        <Facts
          of={[
            ["Events", describeSubscription(webhook.events, webhook.filter)],
            ["Body", webhook.format],
            webhook.include.length > 0 && ["Includes", webhook.include.join(", ")],
            ["Last success", <Time key="success" at={webhook.last_success_at} as="relative" />],
            ["Last failure", <Time key="failure" at={webhook.last_failure_at} as="relative" />],
            webhook.former_secret_until !== null && ["Previous secret signs until", <Time key="former" at={webhook.former_secret_until} />],
            ["Created", <span key="created"><Time at={webhook.created_at} as="relative" /> by {webhook.created_by}</span>],
          ]}
        />
      </Card>
      <div className="row faint mono">
        {webhook.webhook_id} <CopyButton text={webhook.webhook_id} name="Copy id" />
      </div>
    </>
  );
}

function Health({ webhook }: { webhook: WebhookView }) {
  const waiting = webhook.held > 0 ? ` ${formatCount(webhook.held, "delivery", "deliveries")} held.` : "";
  if (webhook.state === "disabled") {
    return (
      <Note tone="warn" icon="pause">
        {describeDisabled(webhook.disabled_reason)}
        {waiting} {webhook.last_error && `Last error: ${webhook.last_error}`}
      </Note>
    );
  }
  if (webhook.failures === 0) return null;
  return (
    <Note tone="bad">
      {formatCount(webhook.failures, "failed attempt")} in a row since <Time at={webhook.failing_since} as="relative" />. {webhook.last_error && `Last error: ${webhook.last_error}`}
    </Note>
  );
}

function Strip({ webhook }: { webhook: WebhookView }) {
  const deliveries = useApiQuery("GET /v1/webhooks/{webhook_id}/deliveries", { path: { webhook_id: webhook.webhook_id }, query: { limit: STRIP_LENGTH } }, { every: 5_000, keepPrevious: true });
  const hrefOf = (delivery: DeliveryView) => linkTo(`/webhooks/${webhook.webhook_id}`, { delivery: delivery.delivery_id });
  return (
    <Card title="Last deliveries">
      <QueryView query={deliveries} what="deliveries">
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState icon="out" title="No deliveries yet" />
          ) : (
            <div className="stack">
              <TickStrip name="Deliveries, oldest first" outcomes={toOutcomes(data, ZONE, hrefOf)} />
              <p className="soft">{summarizeDeliveries(data)}</p>
            </div>
          )
        }
      </QueryView>
    </Card>
  );
}

function Deliveries({ webhook }: { webhook: WebhookView }) {
  const [params, setParams] = useSearchParams();
  const set = (changes: Record<string, string | null>) => setParams(withQuery(params, changes), { replace: true });
  const state = oneOf(params.get("state"), DELIVERY_STATES);
  const deliveries = usePagedQuery("GET /v1/webhooks/{webhook_id}/deliveries", { path: { webhook_id: webhook.webhook_id }, query: { state: state || undefined, limit: 50 } }, { every: 5_000, keepPrevious: true });
  const chosen = params.get("delivery");
  return (
    <Card flush title="Deliveries">
      <Filters name="Delivery filters">
        <Picker name="State" value={state} options={DELIVERY_STATES.map((value) => ({ value, label: value || "Any state" }))} change={(next) => set({ state: next })} />
      </Filters>
      {deliveries.error && <ErrorNote error={deliveries.error} retry={deliveries.refetch} />}
      {deliveries.isPending && !deliveries.error ? (
        <Loading what="deliveries" />
      ) : (
        <DataTable
          name="Deliveries"
          rows={deliveries.rows}
          columns={columnsOf((delivery) => set({ delivery: delivery.delivery_id }))}
          rowKey={(delivery) => delivery.delivery_id}
          more={deliveries}
          keys
          foot={formatCount(deliveries.rows.length, "delivery", "deliveries")}
          empty={<EmptyState icon="out" title={state ? "No matches" : "No deliveries yet"} />}
        />
      )}
      {chosen && <DeliveryDialog webhook={webhook} deliveryId={chosen} close={() => set({ delivery: null })} />}
    </Card>
  );
}

function columnsOf(open: (delivery: DeliveryView) => void): Column<DeliveryView>[] {
  return [
    {
      id: "type",
      head: "Event",
      cell: (delivery) => (
        <button type="button" className="link-button table-main wrap" onClick={() => open(delivery)}>
          {delivery.type}
        </button>
      ),
    },
    { id: "state", head: "State", cell: (delivery) => <StatusBadge status={delivery.state} /> },
    { id: "created", head: "Created", cell: (delivery) => <Time at={delivery.created_at} as="relative" /> },
    { id: "attempts", head: "Attempts", num: true, show: "middle", cell: (delivery) => delivery.attempts },
    { id: "next", head: "Next attempt", show: "wide", cell: (delivery) => <Time at={delivery.next_attempt_at} as="relative" /> },
    { id: "answer", head: "Answer", show: "middle", cell: (delivery) => (delivery.status === null ? <span className="bad-text wrap">{delivery.error}</span> : `HTTP ${delivery.status}`) },
  ];
}

type OpenDialog = "enable" | "rotate" | "delete" | null;

function Actions({ webhook }: { webhook: WebhookView }) {
  const [dialog, open] = useState<OpenDialog>(null);
  const mayOperate = useMay("POST /v1/webhooks/{webhook_id}/test");
  const mayDefine = useMay("DELETE /v1/webhooks/{webhook_id}");
  const test = useApiMutation("POST /v1/webhooks/{webhook_id}/test", { invalidates: SPOILS });
  const disable = useApiMutation("POST /v1/webhooks/{webhook_id}/disable", { invalidates: SPOILS });
  const call = { path: { webhook_id: webhook.webhook_id } };
  const isOn = webhook.state === "enabled";
  const items: Item[] = [
    ...(isOn && mayOperate
      ? [{ label: "Disable", icon: "pause" as const, act: () => disable.mutate(call, { onSuccess: () => toast(`Disabled ${webhook.name}`), onError: (error) => toast(`Could not disable ${webhook.name}: ${error.message}`, "bad") }) }]
      : []),
    ...(mayDefine
      ? [
          { label: "Rotate secret", icon: "key" as const, act: () => open("rotate") },
          { label: "Delete", icon: "trash" as const, danger: true, act: () => open("delete") },
        ]
      : []),
  ];
  const close = () => open(null);
  return (
    <>
      {mayOperate && !isOn && (
        <Button look="primary" icon="play" onClick={() => open("enable")}>
          Enable
        </Button>
      )}
      {mayOperate && isOn && (
        <Button icon="bolt" disabled={test.isPending} onClick={() => test.mutate(call, { onSuccess: () => toast("Test event is being sent"), onError: (error) => toast(`Could not send a test event: ${error.message}`, "bad") })}>
          Send test event
        </Button>
      )}
      {items.length > 0 && <Menu name="More actions" label="More" items={items} />}
      {dialog === "enable" && <EnableDialog webhook={webhook} close={close} />}
      {dialog === "rotate" && <RotateDialog webhook={webhook} close={close} />}
      {dialog === "delete" && <DeleteDialog webhook={webhook} close={close} />}
    </>
  );
}

type Held = "replay" | "newest" | "drop";

/** Enables an endpoint. If deliveries are held, the user decides about them; a dry run returns the token. */
function EnableDialog({ webhook, close }: { webhook: WebhookView; close: () => void }) {
  const [held, setHeld] = useState<Held>("replay");
  const [pace, setPace] = useState("600");
  const hasHeld = webhook.held > 0;
  const enable = useApiMutation("POST /v1/webhooks/{webhook_id}/enable", { invalidates: SPOILS });
  const perMinute = Number(pace);
  const isPaceValid = Number.isInteger(perMinute) && perMinute >= 1 && perMinute <= 60_000;
  const act = async () => {
    const path = { webhook_id: webhook.webhook_id };
    const choice = hasHeld ? { held, per_minute: perMinute } : {};
    try {
      const counted = await enable.mutateAsync({ path, body: { ...choice, dry_run: true } });
      await enable.mutateAsync({ path, body: { ...choice, token: counted.token } });
      toast(`Enabled ${webhook.name}`);
      close();
    } catch {
      // The dialog shows the error of the mutation.
    }
  };
  return (
    <FormDialog title={`Enable ${webhook.name}`} close={close} action="Enable" act={() => void act()} busy={enable.isPending} error={enable.error} disabled={hasHeld && held === "replay" && !isPaceValid}>
      {hasHeld ? (
        <>
          <ChoiceField
            label={`${formatCount(webhook.held, "delivery is", "deliveries are")} held`}
            value={held}
            change={(value) => setHeld(value as Held)}
            options={[
              { value: "replay", label: "Send all", hint: "at the pace below" },
              { value: "newest", label: "Send the newest only", hint: "and drop the others" },
              { value: "drop", label: "Drop all" },
            ]}
          />
          {held === "replay" && <TextField label="Deliveries per minute" value={pace} change={setPace} inputMode="numeric" error={isPaceValid ? null : "A number from 1 to 60,000."} />}
        </>
      ) : (
        <p>New events are sent again. No deliveries are held.</p>
      )}
    </FormDialog>
  );
}

function RotateDialog({ webhook, close }: { webhook: WebhookView; close: () => void }) {
  const rotate = useApiMutation("POST /v1/webhooks/{webhook_id}/rotate", { invalidates: SPOILS });
  if (rotate.data) return <SecretDialog secret={rotate.data.secret} close={close} />;
  return (
    <FormDialog title="Rotate secret" close={close} action="Rotate secret" act={() => rotate.mutate({ path: { webhook_id: webhook.webhook_id } })} busy={rotate.isPending} error={rotate.error}>
      <p>A new secret signs from now on. The current one signs as well for 24 hours, so that the receiver can change in between.</p>
    </FormDialog>
  );
}

function DeleteDialog({ webhook, close }: { webhook: WebhookView; close: () => void }) {
  const [, navigate] = useLocation();
  const remove = useApiMutation("DELETE /v1/webhooks/{webhook_id}", {
    invalidates: ["GET /v1/webhooks", "GET /v1/problems"],
    done: () => {
      toast(`Deleted ${webhook.name}`);
      navigate("/webhooks");
    },
  });
  return (
    <ConfirmDialog title={`Delete ${webhook.name}?`} close={close} action="Delete webhook" act={() => remove.mutate({ path: { webhook_id: webhook.webhook_id } })} busy={remove.isPending} error={remove.error}>
      <p>Deliveries that wait are not sent.</p>
    </ConfirmDialog>
  );
}
