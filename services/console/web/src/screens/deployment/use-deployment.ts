import type { Deployment } from '@runyard/contracts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { deploymentQuery } from '../../platform/deployments.ts';
import { useWorkspace } from '../../session/session.ts';
import { refetchMs } from '../deployments/deployment-list.ts';

export interface CurrentDeployment {
  deployment: Deployment;
  /** The fault of the last request; `deployment` is what was known before. */
  error: unknown;
  retry: () => void;
}

/** The deployment in the address of the page. */
export function useDeployment(): CurrentDeployment {
  const workspace = useWorkspace();
  const { deploymentId } = useParams({ strict: false }) as { deploymentId: string };
  const { data, error, refetch } = useSuspenseQuery({
    ...deploymentQuery(workspace.id, deploymentId),
    refetchInterval: ({ state }) => refetchMs(state.data && [state.data]),
  });
  return { deployment: data, error, retry: () => void refetch() };
}
