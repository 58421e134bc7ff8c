// What is wrong now: each problem with its cause, its remedy and the action that ends it.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { countBulkAction, runBulkAction, sendAction } from "../../api/actions.ts";
import { callApi } from "../../api/client.ts";
import { queryKey, useApiQuery } from "../../api/queries.ts";
import type { ProblemActionView, ProblemView } from "../../api/schema.gen.ts";
import { formatCount } from "../../lib/figures.ts";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { CodeText } from "../../ui/CodeText.tsx";
import { FormDialog } from "../../ui/Dialog.tsx";
import { Note, QueryView } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { TextWithTimes, Time } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { countProblems, linkLabel, problemKey } from "./model.ts";

/** How many problems are shown at first. */
const SHOWN_MAX = 6;
const PROBLEMS = "GET /v1/problems";

export function ProblemsCard() {
  const problems = useApiQuery(PROBLEMS, {}, { every: 5_000, keepPrevious: true });
  const [isAll, showAll] = useState(false);
  if (problems.data?.data.length === 0 && !problems.error) {
    return (
      <Note tone="good" icon="check">
        No problems
      </Note>
    );
  }
  return (
    <Card flush title="Problems" aside={problems.data && <span className="soft">{countProblems(problems.data.data)}</span>}>
      <QueryView query={problems} what="problems">
        {({ data }) => (
          <>
            <ul className="problems">
              {data.slice(0, isAll ? data.length : SHOWN_MAX).map((problem) => (
                <Problem key={problemKey(problem)} problem={problem} />
              ))}
            </ul>
            {!isAll && data.length > SHOWN_MAX && (
              <div className="table-foot">
                <span>{formatCount(data.length - SHOWN_MAX, "more problem")}</span>
                <Button small onClick={() => showAll(true)}>
                  Show all
                </Button>
              </div>
            )}
          </>
        )}
      </QueryView>
    </Card>
  );
}

function Problem({ problem }: { problem: ProblemView }) {
  return (
    <li className="problem">
      <StatusBadge status={problem.severity} />
      <div className="problem-text stack stack-tight">
        <p className="wrap">
          <strong>
            <TextWithTimes text={problem.sentence} />
          </strong>{" "}
          {problem.since && (
            <span className="faint">
              <Time at={problem.since} as="relative" />
            </span>
          )}
        </p>
        {problem.cause && (
          <p className="soft wrap">
            <TextWithTimes text={problem.cause} />
          </p>
        )}
        <p className="wrap">
          <CodeText text={problem.remedy} />
        </p>
      </div>
      <div className="problem-actions row">
        {Object.entries(problem.links).map(([name, href]) => (
          <Link key={name} href={href} aria-label={`${linkLabel(name)}: ${problem.sentence}`}>
            {linkLabel(name)}
          </Link>
        ))}
        {problem.action && <ProblemAction problem={problem} action={problem.action} />}
      </div>
    </li>
  );
}

/** The button of an action; an action on many runs asks first. */
function ProblemAction({ problem, action }: { problem: ProblemView; action: ProblemActionView }) {
  const [isBusy, setBusy] = useState(false);
  const [isAsking, ask] = useState(false);
  const refresh = useRefresh();
  const act = async () => {
    setBusy(true);
    try {
      await sendAction(action);
      toast(`${action.label}: done`);
      await refresh();
    } catch (error) {
      toast(`${action.label} failed: ${(error as Error).message}`, "bad");
    }
    setBusy(false);
  };
  return (
    <>
      <Button small disabled={isBusy} aria-label={`${action.label}: ${problem.subject.name}`} onClick={() => (action.needs_token ? ask(true) : void act())}>
        {isBusy ? "Working…" : action.label}
      </Button>
      {isAsking && <BulkDialog problem={problem} action={action} close={() => ask(false)} done={refresh} />}
    </>
  );
}

function BulkDialog({ problem, action, close, done }: { problem: ProblemView; action: ProblemActionView; close: () => void; done: () => Promise<void> }) {
  const counted = useQuery({ queryKey: ["count", action], queryFn: () => countBulkAction(action), staleTime: 0, gcTime: 0 });
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const token = counted.data?.token;
  const act = async (first: string) => {
    setBusy(true);
    setError(null);
    try {
      toast(`${action.label}: ${formatCount(await runBulkAction(action, first), "run")}`);
      await done();
      close();
    } catch (caught) {
      setError(caught);
      setBusy(false);
    }
  };
  return (
    <FormDialog title={`${action.label} runs of ${problem.subject.name}`} close={close} action={action.label} act={() => token && void act(token)} busy={isBusy} error={error} disabled={!token}>
      <QueryView query={counted} what="runs">
        {({ matched }) => <p>{matched === 0 ? "No run is left." : `${action.label} ${formatCount(matched, "run")}. ${problem.cause ?? ""}`}</p>}
      </QueryView>
    </FormDialog>
  );
}

/** Reads the problems anew; without this, the API returns a list that is up to five seconds old. */
function useRefresh(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    const fresh = await callApi(PROBLEMS, { query: { fresh: true } });
    client.setQueryData(queryKey(PROBLEMS, {}), fresh);
  };
}
