import { setTimeout as pause } from 'node:timers/promises';
import type { Deployment, DeploymentList, Revision } from '@runyard/contracts';
import { InfrastructureError } from '@runyard/local-infra';
import type { PlatformClient } from '../platform-client.ts';
import type { Progress } from '../progress.ts';
import type { ProjectFolder } from '../project/read-project.ts';
import type { ReadyDeployment } from '../ready-file.ts';
import { followRevision, RevisionFailedError } from './follow-revision.ts';

interface DeployOptions {
  client: PlatformClient;
  project: ProjectFolder;
  progress: Progress;
  stopping: AbortSignal;
}

/** Milliseconds that an active revision may take to serve again after a restart. */
const resumeMs = 45_000;

/**
 * Deploys the project as any client would, and waits until it answers. At a later start the deployment exists and only
 * has to come up again. Returns all deployments of the platform, the project's first.
 */
export async function deployProject(options: DeployOptions): Promise<[ReadyDeployment, ...ReadyDeployment[]]> {
  const { client, project } = options;
  const { resources } = await client.call<DeploymentList>('GET', '/v2/deployments?limit=100');
  const known = resources.find((candidate) => candidate.source_config.project_path === project.folder);
  const deployment = known ? await resume(known, options) : await create(resources, options);
  const others = resources.filter((other) => other.id !== deployment.id && other.active_revision_id);
  return [readyDeployment(deployment, client), ...others.map((other) => readyDeployment(other, client))];
}

async function create(existing: Deployment[], options: DeployOptions): Promise<Deployment> {
  const { client, project } = options;
  const taken = existing.some((deployment) => deployment.name === project.name);
  const deployment = await client.call<Deployment>('POST', '/v2/deployments', {
    name: taken ? project.distinctName : project.name,
    source: 'local_directory',
    source_config: { project_path: project.folder, deployment_type: 'dev' },
    source_revision_config: { langgraph_config_path: 'langgraph.json' },
  });
  options.progress.step(`Deploying ${deployment.name}`);
  await waitUntilDeployed(deployment, deployment.latest_revision_id, options);
  await waitUntilAnswering(deployment, options, resumeMs);
  return deployment;
}

async function resume(deployment: Deployment, options: DeployOptions): Promise<Deployment> {
  options.progress.step(`Starting ${deployment.name} again`);
  if (deployment.active_revision_id && deployment.active_revision_id === deployment.latest_revision_id) {
    if (await isAnswering(deployment, options, resumeMs)) return deployment;
  }
  // The latest revision never served, or serves no more: a new one shows what is wrong with the project as it is now.
  const revision = await options.client.call<Revision>('POST', `/v2/deployments/${deployment.id}/revisions`, {});
  await waitUntilDeployed(deployment, revision.id, options);
  await waitUntilAnswering(deployment, options, resumeMs);
  return deployment;
}

async function waitUntilDeployed(
  deployment: Deployment,
  revisionId: string | null,
  { client, progress, stopping }: DeployOptions,
): Promise<void> {
  await followRevision({
    client,
    deploymentId: deployment.id,
    revisionId: String(revisionId),
    signal: stopping,
    onStatus: (status) => progress.step(`  ${status.toLowerCase().replaceAll('_', ' ')}`),
  }).catch((error: unknown) => {
    if (error instanceof RevisionFailedError) throw new InfrastructureError(`${deployment.name} ${error.message}`);
    throw error;
  });
}

/** Waits for the gateway, which gets the route to a new revision a moment after the revision is deployed. */
async function waitUntilAnswering(deployment: Deployment, options: DeployOptions, timeoutMs: number): Promise<void> {
  if (await isAnswering(deployment, options, timeoutMs)) return;
  throw new InfrastructureError(`${deployment.name} is deployed but does not answer through the gateway.`);
}

async function isAnswering(deployment: Deployment, options: DeployOptions, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while ((await options.client.status(`/deployments/${deployment.id}/ok?check_db=1`)) !== 200) {
    options.stopping.throwIfAborted();
    if (Date.now() > deadline) return false;
    await pause(50);
  }
  return true;
}

function readyDeployment({ id, name, host_url }: Deployment, client: PlatformClient): ReadyDeployment {
  return { id, name, url: `${client.url}/deployments/${id}`, host_url };
}
