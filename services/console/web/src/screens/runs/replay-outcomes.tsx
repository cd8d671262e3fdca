import type { JournalRun } from '@runyard/contracts';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { faultText } from '../../components/fault.tsx';
import { ProgressBar } from '../../components/progress-bar.tsx';
import type { BulkOutcome } from '../replay/bulk-replay.ts';
import { shortId } from '../run/run-summary.tsx';

interface ReplayOutcomesProps {
  workspaceId: string;
  runs: readonly JournalRun[];
  /** In the order of the runs. */
  outcomes: readonly BulkOutcome[];
}

/** The outcome of the replay of each run, with links to the comparisons. */
export function ReplayOutcomes({ workspaceId, runs, outcomes }: ReplayOutcomesProps) {
  const count = (type: BulkOutcome['type']) => outcomes.filter((outcome) => outcome.type === type).length;
  const [failed, stopped] = [count('failed'), count('stopped')];
  return (
    <>
      <ProgressBar label="Runs that were replayed" value={count('made') + failed} max={runs.length} />
      <p role="status">
        {count('made')} of {runs.length} shadows made
        {failed > 0 && `, ${failed} could not be`}
        {stopped > 0 && `, ${stopped} not begun`}.
      </p>
      <ul aria-label="Outcomes" className="max-h-[40vh] overflow-auto">
        {runs.map((run, index) => (
          <li key={run.run_id} className="border-t border-line py-1 break-words">
            Run <code className="text-xs">{shortId(run.run_id)}</code>: {outcomeOf(workspaceId, run, outcomes[index]!)}
          </li>
        ))}
      </ul>
    </>
  );
}

function outcomeOf(workspaceId: string, run: JournalRun, outcome: BulkOutcome): ReactNode {
  const { deployment_id: deploymentId, thread_id: threadId, run_id: runId } = run;
  switch (outcome.type) {
    case 'made':
      return (
        <Link
          to="/w/$workspaceId/deployments/$deploymentId/threads/$threadId/runs/$runId/replay"
          params={{ workspaceId, deploymentId, threadId, runId }}
          search={{ thread: outcome.shadow.threadId, run: outcome.shadow.runId }}
        >
          compare with its shadow
        </Link>
      );
    case 'failed':
      return <span className="text-fault">{faultText(outcome.error)}</span>;
    case 'stopped':
      return <span className="text-faint">not begun</span>;
    case 'working':
      return <span className="text-wait">being made …</span>;
    case 'waiting':
      return <span className="text-faint">waits</span>;
  }
}
