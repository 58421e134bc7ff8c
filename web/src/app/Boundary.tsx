// Catches errors of a page, so that the other pages keep working.
import { Component, type ReactNode } from "react";
import { Button } from "../ui/Button.tsx";
import { EmptyState } from "../ui/Notes.tsx";

export class Boundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    // After an update the server no longer has the old version's files.
    const isStale = /dynamically imported module|Importing a module script|preload/i.test(error.message);
    return (
      <EmptyState
        icon="alert"
        title={isStale ? "A new version of the dashboard is available" : "This page crashed"}
        action={
          <Button look="primary" onClick={() => window.location.reload()}>
            Reload
          </Button>
        }
      >
        {isStale ? "Rota was updated while the page was open, or the server is unreachable." : `${error.message}. No data was changed.`}
      </EmptyState>
    );
  }
}
