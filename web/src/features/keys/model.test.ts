import { expect, test } from "vitest";
import { stateOf } from "./model.ts";

const NOW = Date.parse("2030-01-02T00:00:00Z");

test("a key is active until it expires or is revoked", () => {
  expect(stateOf({ revoked_at: null, expires_at: null }, NOW)).toBe("active");
  expect(stateOf({ revoked_at: null, expires_at: "2030-01-03T00:00:00Z" }, NOW)).toBe("active");
  expect(stateOf({ revoked_at: null, expires_at: "2030-01-02T00:00:00Z" }, NOW)).toBe("expired");
  expect(stateOf({ revoked_at: "2030-01-01T00:00:00Z", expires_at: "2030-01-01T00:00:00Z" }, NOW)).toBe("revoked");
});
