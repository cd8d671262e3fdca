import type { Revision } from '@runyard/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { deploymentQuery } from '../../platform/deployments.ts';
import { isActive, isUnderWay, revisionQuery } from '../../platform/revisions.ts';
import { ActiveMark } from './active-mark.tsx';
import { RevisionActions } from './revision-actions.tsx';
import { sourceText } from './revision-source.ts';
import { drainingRuns, RevisionRunsTable, useRunsByRevision } from './rollout/revision-runs.tsx';
import { RolloutLog } from './rollout/rollout-log.tsx';
import { rolloutStages } from './rollout/rollout-stages.ts';
import { RolloutStagesView } from './rollout/rollout-stages-view.tsx';
import { useDeployment } from './use-deployment.ts';

const LAST_LINES = 50;

/** The roll-out of a revision: how far it is, what its build and its servers print, and who executes the runs. */
export function RevisionTab() {
  const { deployment } = useDeployment();
  const { revisionId } = useParams({ strict: false }) as { revisionId: string };
  const { tenant_id: workspaceId, id: deploymentId } = deployment;
  const { data: revision, error, refetch } = useQuery(revisionQuery(workspaceId, deploymentId, revisionId));
  const runs = useRunsByRevision(deployment);
  const client = useQueryClient();
  const status = revision?.status;
  useEffect(() => {
    // The end of a roll-out changes which revision serves.
    if (status) void client.invalidateQueries({ queryKey: deploymentQuery(workspaceId, deploymentId).queryKey });
  }, [client, status, workspaceId, deploymentId]);
  const fault = <Fault error={error} onRetry={() => void refetch()} />;
  if (!revision) return error ? fault : <Loading what="the revision" />;
  const active = isActive(deployment, revision);
  const isLive = isUnderWay(revision);
  const stages = rolloutStages({
    status: revision.status,
    source: revision.source,
    isActive: active,
    draining: drainingRuns(runs.data, revisionId),
  });
  const hasBuild = stages.some(({ name, state }) => name === 'Build' && state !== 'none');
  const parameters = { workspaceId, deploymentId };
  return (
    <>
      <header className="flex flex-wrap items-center justify-between gap-3">
        <div className="min-w-0">
          <h2 className="font-semibold">
            Revision <span className="font-mono text-sm break-all">{revision.id}</span>
            {active && <ActiveMark />}
          </h2>
          <p className="flex flex-wrap gap-x-3 text-faint">
            <span role="status">
              <Status status={revision.status} />
            </span>
            <span className="break-all">{sourceText(revision)}</span>
            <span>
              made <Time at={revision.created_at} />
            </span>
          </p>
        </div>
        <RevisionActions deployment={deployment} revision={revision} />
      </header>
      {fault}
      <Cause revision={revision} />
      <RolloutStagesView stages={stages} />
      {hasBuild && (
        <RolloutLog
          title="Build log"
          source={{ kind: 'build', deploymentId, revisionId }}
          isLive={isLive}
          empty={
            isLive ? 'Nothing has been printed yet.' : 'The build printed nothing, or its log is not kept any more.'
          }
        />
      )}
      <RolloutLog
        title="Last lines of its servers"
        source={{ kind: 'deploy', deploymentId, revisionId }}
        isLive={isLive || active}
        first={LAST_LINES}
        empty="Its servers have printed nothing that is kept."
        className="h-48"
      >
        <Link to="/w/$workspaceId/deployments/$deploymentId/logs" params={parameters}>
          All logs
        </Link>
      </RolloutLog>
      <RevisionRunsTable deployment={deployment} revisionId={revisionId} runs={runs} />
    </>
  );
}

/** Why a roll-out ended before it served. */
function Cause({ revision: { status, status_message: message } }: { revision: Revision }) {
  if (message === null) return null;
  const hasFailed = status.endsWith('FAILED');
  return (
    <div role="alert" className={`rounded border bg-card p-3 ${hasFailed ? 'border-fault' : 'border-line'}`}>
      <p className={`font-semibold ${hasFailed ? 'text-fault' : ''}`}>{hasFailed ? 'Why it failed' : 'Why it ended'}</p>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
        tabIndex={0}
        className="mt-1 max-h-80 overflow-auto font-mono text-xs break-words whitespace-pre-wrap"
      >
        {message}
      </pre>
    </div>
  );
}
