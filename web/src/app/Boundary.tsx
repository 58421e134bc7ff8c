// A page that breaks says so, and the others go on.
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
    // After an update the parts of the old page are gone from the server.
    const isStale = /dynamically imported module|Importing a module script|preload/i.test(error.message);
    return (
      <EmptyState
        sign="alert"
        title={isStale ? "There is a newer version of this page." : "This page broke."}
        action={
          <Button look="primary" onClick={() => window.location.reload()}>
            Load it again
          </Button>
        }
      >
        {isStale ? "Rota was updated while the page was open, or the server cannot be reached." : `It said: ${error.message}. Nothing was changed by it.`}
      </EmptyState>
    );
  }
}
