import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Fault } from '../../components/fault.tsx';
import { TextField } from '../../components/field.tsx';
import { Loading } from '../../components/loading.tsx';
import { Page } from '../../components/page.tsx';
import { deploymentsQuery } from '../../platform/deployments.ts';
import { useWorkspace } from '../../session/session.ts';
import { CreateDeployment } from './create-deployment.tsx';
import { findDeployments, refetchMs } from './deployment-list.ts';
import { DeploymentTable } from './deployment-table.tsx';

const route = getRouteApi('/signed-in/w/$workspaceId/deployments');

/** The deployments of a workspace. */
export function DeploymentsPage() {
  const workspace = useWorkspace();
  const { name = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const [isCreating, setIsCreating] = useState(false);
  const { data, error, refetch } = useQuery({
    ...deploymentsQuery(workspace.id),
    refetchInterval: ({ state }) => refetchMs(state.data),
  });
  const found = findDeployments(data ?? [], name);
  return (
    <Page
      title="Deployments"
      actions={
        <Button
          look="first"
          unavailable={missingPermission(workspace.may('deployments:create'), 'deployments:create')}
          onClick={() => setIsCreating(true)}
        >
          New deployment
        </Button>
      }
    >
      <Fault error={error} onRetry={() => void refetch()} />
      {data && data.length > 0 && (
        <div className="max-w-sm">
          <TextField
            label="Name contains"
            type="search"
            value={name}
            onChange={({ target }) => void navigate({ search: { name: target.value || undefined }, replace: true })}
          />
        </div>
      )}
      {!data && !error && <Loading what="deployments" />}
      {data?.length === 0 && (
        <Empty title="No deployment yet">
          Run <code>runyard deploy</code> or <code>langgraph deploy</code> in the folder of a project, or make one here
          from a repository or an image.
        </Empty>
      )}
      {data && data.length > 0 && found.length === 0 && (
        <Empty title={`No deployment has “${name}” in its name`}>
          <Button onClick={() => void navigate({ search: {}, replace: true })}>Show all</Button>
        </Empty>
      )}
      {found.length > 0 && <DeploymentTable deployments={found} />}
      <CreateDeployment isOpen={isCreating} onClose={() => setIsCreating(false)} />
    </Page>
  );
}
