import { Outlet, useParams } from '@tanstack/react-router';
import { Suspense } from 'react';
import { CopyButton } from '../../components/copy-button.tsx';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { Page } from '../../components/page.tsx';
import { Status } from '../../components/status.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { addressesOf } from '../../platform/deployments.ts';
import { nameOf } from '../deployments/deployment-list.ts';
import { DeleteDeployment } from './delete-deployment.tsx';
import { Halt, HaltNotice } from './halt.tsx';
import { useDeployment } from './use-deployment.ts';

/** A deployment: what it is at the moment, and the parts of its page. */
export function DeploymentPage() {
  const { deployment, error, retry } = useDeployment();
  const { revisionId } = useParams({ strict: false }) as { revisionId?: string };
  const params = { workspaceId: deployment.tenant_id, deploymentId: deployment.id };
  return (
    <Page
      title={nameOf(deployment)}
      actions={
        <>
          <Halt deployment={deployment} />
          <DeleteDeployment deployment={deployment} />
        </>
      }
    >
      <Fault error={error} onRetry={retry} />
      <HaltNotice deploymentId={deployment.id} />
      <dl className="flex flex-wrap gap-x-8 gap-y-2">
        <div>
          <dt className="text-xs text-faint">Status</dt>
          <dd>
            <Status status={deployment.status} />
          </dd>
        </div>
        <div>
          <dt className="text-xs text-faint">Agent server</dt>
          <dd>{deployment.image_version ?? 'none serves'}</dd>
        </div>
        <div className="min-w-0">
          <dt className="text-xs text-faint">Addresses</dt>
          {addressesOf(deployment).map((address) => (
            <dd key={address} className="flex flex-wrap items-center gap-2">
              <code className="min-w-0 break-all">{address}</code>
              <CopyButton what={address} text={() => address} />
            </dd>
          ))}
        </div>
      </dl>
      <Tabs
        label="Parts of the deployment"
        tabs={[
          {
            label: 'Revisions',
            link: { to: '/w/$workspaceId/deployments/$deploymentId', params },
            isExact: true,
            isCurrent: revisionId !== undefined,
          },
          { label: 'Logs', link: { to: '/w/$workspaceId/deployments/$deploymentId/logs', params } },
          { label: 'Settings', link: { to: '/w/$workspaceId/deployments/$deploymentId/settings', params } },
          { label: 'Assistants', link: { to: '/w/$workspaceId/deployments/$deploymentId/assistants', params } },
          { label: 'Crons', link: { to: '/w/$workspaceId/deployments/$deploymentId/crons', params } },
          { label: 'Budgets', link: { to: '/w/$workspaceId/deployments/$deploymentId/budgets', params } },
          { label: 'Store', link: { to: '/w/$workspaceId/deployments/$deploymentId/store', params } },
          { label: 'Threads', link: { to: '/w/$workspaceId/deployments/$deploymentId/threads', params } },
          { label: 'Runs', link: { to: '/w/$workspaceId/runs', params, search: { deployment: deployment.id } } },
        ]}
      />
      <Suspense fallback={<Loading what="it" />}>
        <Outlet />
      </Suspense>
    </Page>
  );
}
