// Which kinds there are, and what their payloads look like.
import { useAsk } from "../../api/queries.ts";
import type { KindView } from "../../api/schema.gen.ts";
import type { Schema } from "../../lib/schema.ts";

export function useKinds(): KindView[] | undefined {
  const asked = useAsk("GET /v1/kinds", {}, { staleTime: 60_000 });
  // Without them a payload is JSON, which always works.
  return asked.error ? [] : asked.data?.data;
}

/** The schema of a kind's payload; null if nobody has told one, undefined until it is known. */
export function usePayloadSchema(kind: string): Schema | null | undefined {
  const kinds = useKinds();
  if (!kinds) return undefined;
  return (kinds.find((each) => each.kind === kind)?.payload_schema as Schema | undefined) ?? null;
}
