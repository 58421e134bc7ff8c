// How the dashboard is built, and served while somebody works on it: `npm run dev` passes requests on
// to the API at ROTA_URL.
import react from "@vitejs/plugin-react";
import { loadEnv } from "vite";
import { defineConfig } from "vitest/config";

const api = loadEnv("", ".", "ROTA_")["ROTA_URL"] ?? "http://127.0.0.1:7070";

export default defineConfig({
  plugins: [react()],
  build: {
    target: "es2022",
    // light-dark() is kept as it is.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // The page's policy allows no inline scripts; nothing is worth a polyfill either.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  server: { proxy: { "/v1": api, "/ui": api, "/docs": api } },
  test: { include: ["src/**/*.test.ts"], environment: "node", pool: "threads", isolate: false },
});
