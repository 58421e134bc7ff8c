// Loads the kinds and their payload schemas.
import { useApiQuery } from "../../api/queries.ts";
import type { KindView } from "../../api/schema.gen.ts";
import type { Schema } from "../../lib/schema.ts";

export function useKinds(): KindView[] | undefined {
  const kinds = useApiQuery("GET /v1/kinds", {}, { staleTime: 60_000 });
  // Without kinds the payload is edited as JSON.
  return kinds.error ? [] : kinds.data?.data;
}

/** The schema of a kind's payload; null if the kind declares none, undefined while loading. */
export function usePayloadSchema(kind: string): Schema | null | undefined {
  const kinds = useKinds();
  if (!kinds) return undefined;
  return (kinds.find((each) => each.kind === kind)?.payload_schema as Schema | undefined) ?? null;
}
