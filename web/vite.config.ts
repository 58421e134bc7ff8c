// Builds the dashboard. `npm run dev` serves it and proxies requests to the API at ROTA_URL.
import react from "@vitejs/plugin-react";
import { loadEnv } from "vite";
import { defineConfig } from "vitest/config";

const api = loadEnv("", ".", "ROTA_")["ROTA_URL"] ?? "http://127.0.0.1:7070";

export default defineConfig({
  plugins: [react()],
  build: {
    target: "es2022",
    // Keeps light-dark() unchanged.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // The content security policy blocks inline scripts, and the target browsers need no polyfill.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  server: { proxy: { "/v1": api, "/ui": api, "/docs": api } },
  test: { include: ["src/**/*.test.ts"], environment: "node", pool: "threads", isolate: false },
});
