import { Link, useParams, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { buttonClass } from '../../components/button.tsx';
import { Page } from '../../components/page.tsx';
import type { RunPlace } from '../../platform/runs.ts';
import { shortId } from '../run/run-summary.tsx';
import { Comparison } from './comparison.tsx';
import { DeleteShadow } from './delete-shadow.tsx';
import { NewShadow } from './new-shadow.tsx';

const ROUTE = '/signed-in/w/$workspaceId/deployments/$deploymentId/threads/$threadId/runs/$runId/replay';

/** A run beside a shadow of it; without a shadow in the address, the choices for one. */
export function ReplayPage() {
  const { workspaceId, deploymentId, threadId, runId } = useParams({ from: ROUTE });
  const search = useSearch({ from: ROUTE });
  const place = useMemo(
    (): RunPlace => ({ workspaceId, deploymentId, threadId, runId }),
    [workspaceId, deploymentId, threadId, runId],
  );
  const { thread, run, deployment = deploymentId } = search;
  const shadow = useMemo(
    (): RunPlace | undefined =>
      thread && run ? { workspaceId, deploymentId: deployment, threadId: thread, runId: run } : undefined,
    [workspaceId, deployment, thread, run],
  );
  return (
    <Page
      title={`Replay of run ${shortId(runId)}`}
      actions={
        shadow ? (
          <>
            <Link
              to="/w/$workspaceId/deployments/$deploymentId/threads/$threadId/runs/$runId/replay"
              params={place}
              search={{}}
              className={buttonClass({ look: 'plain' })}
            >
              Again with another assistant
            </Link>
            <DeleteShadow {...{ place, shadow }} />
          </>
        ) : (
          <Link to="/w/$workspaceId/deployments/$deploymentId/threads/$threadId/runs/$runId" params={place} search={{}}>
            Back to the run
          </Link>
        )
      }
    >
      {shadow ? <Comparison key={shadow.runId} original={place} shadow={shadow} /> : <NewShadow place={place} />}
    </Page>
  );
}
