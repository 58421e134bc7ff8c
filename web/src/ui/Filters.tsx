// The row of filters above a list.
import type { ReactNode } from "react";
import "./filters.css";

export function Filters({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="filter-row" role="group" aria-label={name}>
      {children}
    </div>
  );
}
