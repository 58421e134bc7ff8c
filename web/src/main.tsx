// Entry point: renders the dashboard into the page.
import "./ui/tokens.css";
import "./ui/base.css";
import "./ui/parts.css";
import "./ui/table.css";
import "./app/shell.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { watchActivity } from "./api/activity.ts";
import { queryClient } from "./api/queries.ts";
import { App } from "./app/App.tsx";
import { Boundary } from "./app/Boundary.tsx";
import { applyTheme } from "./app/theme.ts";

applyTheme();
watchActivity(window);
const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <Boundary>
        <QueryClientProvider client={queryClient}>
          <App />
        </QueryClientProvider>
      </Boundary>
    </StrictMode>,
  );
}
