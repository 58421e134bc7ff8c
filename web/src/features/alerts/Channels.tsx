// The channels that processes reported, with their health. Their addresses are in the settings only.
import { useApiMutation, useApiQuery } from "../../api/queries.ts";
import type { ChannelView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { formatCount } from "../../lib/figures.ts";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { EmptyState, QueryView } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Time } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";

export function Channels() {
  const channels = useApiQuery("GET /v1/channels", {}, { every: 10_000, keepPrevious: true });
  const mayTest = useMay("POST /v1/channels/{name}/test");
  return (
    <Card flush>
      <QueryView query={channels} what="channels">
        {({ data }) => (
          <DataTable
            name="Channels"
            rows={data}
            columns={mayTest ? [...COLUMNS, ACTIONS] : COLUMNS}
            rowKey={(channel) => channel.name}
            keys
            foot={formatCount(data.length, "channel")}
            empty={
              <EmptyState icon="bolt" title="No channels">
                Incidents are shown here only. To send messages, add <code>[channels.NAME]</code> to the settings of the schedulers: e-mail, Slack, Teams, PagerDuty, Alertmanager and others.
              </EmptyState>
            }
          />
        )}
      </QueryView>
    </Card>
  );
}

const COLUMNS: readonly Column<ChannelView>[] = [
  {
    id: "name",
    head: "Channel",
    cell: (channel) => (
      <div className="stack stack-tight">
        <span className="table-main wrap">{channel.name}</span>
        <span className="soft">
          {channel.kind}
          {channel.is_default && " · default"}
        </span>
      </div>
    ),
  },
  {
    id: "health",
    head: "Health",
    cell: (channel) => (
      <div className="stack stack-tight">
        <span>
          <StatusBadge status={`channel_${channel.health}`} />
        </span>
        {channel.last_error && <span className="bad-text wrap">{channel.last_error}</span>}
      </div>
    ),
  },
  { id: "sent", head: "Last message", show: "middle", cell: (channel) => <Time at={channel.last_sent_at} as="relative" /> },
];

const ACTIONS: Column<ChannelView> = { id: "actions", head: "", num: true, cell: (channel) => <Test channel={channel} /> };

function Test({ channel }: { channel: ChannelView }) {
  const test = useApiMutation("POST /v1/channels/{name}/test", { invalidates: ["GET /v1/channels", "GET /v1/problems"] });
  return (
    <Button
      small
      disabled={test.isPending}
      aria-label={`Test ${channel.name}`}
      onClick={() =>
        test.mutate(
          { path: { name: channel.name } },
          { onSuccess: () => toast(`Test message to ${channel.name} is being sent`), onError: (error) => toast(`Could not test ${channel.name}: ${error.message}`, "bad") },
        )
      }
    >
      {test.isPending ? "Sending…" : "Test"}
    </Button>
  );
}
