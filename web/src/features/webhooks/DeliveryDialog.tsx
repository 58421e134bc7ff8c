// One delivery: the request, the answer, and every attempt. It can be sent again.
import { useApiMutation, useApiQuery } from "../../api/queries.ts";
import type { DeliveryDetails, WebhookView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { Button } from "../../ui/Button.tsx";
import { Facts } from "../../ui/Card.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { JsonView } from "../../ui/JsonView.tsx";
import { ErrorNote, QueryView } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Time } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";

const DELIVERY = "GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}";

export function DeliveryDialog({ webhook, deliveryId, close }: { webhook: WebhookView; deliveryId: string; close: () => void }) {
  const path = { webhook_id: webhook.webhook_id, delivery_id: deliveryId };
  const delivery = useApiQuery(DELIVERY, { path }, { every: 3_000 });
  const maySend = useMay("POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver");
  const again = useApiMutation("POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver", {
    invalidates: [DELIVERY, "GET /v1/webhooks/{webhook_id}/deliveries"],
    done: () => toast("Sending again"),
  });
  const canSend = maySend && webhook.state === "enabled" && delivery.data !== undefined && delivery.data.state !== "sending";
  return (
    <Dialog
      title={delivery.data?.type ?? "Delivery"}
      wide
      close={close}
      foot={
        <>
          <Button onClick={close}>Close</Button>
          {canSend && (
            <Button look="primary" icon="redo" disabled={again.isPending} onClick={() => again.mutate({ path })}>
              Send again
            </Button>
          )}
        </>
      }
    >
      <QueryView query={delivery} what="delivery">
        {(found) => <Details delivery={found} />}
      </QueryView>
      {again.error && <ErrorNote error={again.error} />}
    </Dialog>
  );
}

function Details({ delivery }: { delivery: DeliveryDetails }) {
  return (
    <>
      <Facts
        of={[
          ["State", <StatusBadge key="state" status={delivery.state} />],
          ["Created", <Time key="created" at={delivery.created_at} />],
          delivery.next_attempt_at !== null && ["Next attempt", <Time key="next" at={delivery.next_attempt_at} as="relative" />],
          ["webhook-id", <span key="id" className="mono">{delivery.event_id}</span>],
        ]}
      />
      <section className="stack stack-tight" aria-label="Request">
        <h3>Request ({delivery.content_type})</h3>
        <JsonView value={delivery.body} name="Request" />
      </section>
      <section className="stack stack-tight" aria-label="Answer">
        <h3>Answer</h3>
        {delivery.status === null && !delivery.error && <p className="soft">No answer yet</p>}
        {delivery.status !== null && <p>HTTP {delivery.status}</p>}
        {delivery.error && <p className="bad-text wrap">{delivery.error}</p>}
        {delivery.response && <pre className="json wrap">{delivery.response}</pre>}
      </section>
      {delivery.history.length > 0 && (
        <section className="stack stack-tight" aria-label="Attempts">
          <h3>Attempts</h3>
          <ol className="plain-rows">
            {delivery.history.map((attempt) => (
              <li key={attempt.at} className="row">
                <Time at={attempt.at} />
                <span>{attempt.status === null ? "no answer" : `HTTP ${attempt.status}`}</span>
                <span className="faint">{attempt.duration_ms} ms</span>
                {attempt.error && <span className="bad-text wrap">{attempt.error}</span>}
              </li>
            ))}
          </ol>
        </section>
      )}
    </>
  );
}
