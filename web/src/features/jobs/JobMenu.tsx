// The menu of a job in a list.
import { useState } from "react";
import { useLocation } from "wouter";
import type { JobView } from "../../api/schema.gen.ts";
import { Menu } from "../../ui/Menu.tsx";
import { type Action, ActionDialog, itemsFor } from "./Actions.tsx";

export function JobMenu({ job }: { job: JobView }) {
  const [action, setAction] = useState<Action | null>(null);
  const [, navigate] = useLocation();
  const items = itemsFor(job, setAction, navigate);
  if (items.length === 0) return null;
  return (
    <>
      <Menu name={`Actions for ${job.name}`} items={items} />
      <ActionDialog job={job} action={action} close={() => setAction(null)} />
    </>
  );
}
