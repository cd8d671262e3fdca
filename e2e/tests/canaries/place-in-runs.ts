import path from 'node:path';
import { createDeployment, type Deployment, waitUntilDeployed } from '../../harness/control-plane.ts';
import type { Caller } from './caller.ts';

/** Deploys a project that prints one of its secrets. */
export async function deployBlurter({ canaries, deployments }: Caller): Promise<Deployment> {
  const deployment = await createDeployment('blurter', path.resolve(import.meta.dirname, '../../projects/blurter'), [
    { name: 'KEPT', value: canaries.make('a secret of a deployment') },
    // The project's error messages are its own and are stored with its runs.
    { name: 'BLURTED', value: canaries.make('a secret that its project prints', { isContent: true }) },
    { name: 'WEBHOOK_SIGNING_SECRETS', value: canaries.make('the secret that signs webhooks') },
  ]);
  deployments.push(deployment.id);
  await waitUntilDeployed(deployment);
  return deployment;
}

/**
 * Starts runs that print a secret, fail and crash with it, and report to a server that fails. Returns their thread's
 * id.
 */
export async function placeInRuns(caller: Caller, deployment: Deployment, server: string): Promise<string> {
  const { canaries } = caller;
  const at = deployment.source_config.custom_url;
  const thread = await caller.make('POST', `${at}/threads`, {
    metadata: { note: canaries.make('content', { isContent: true }) },
  });
  const webhook = `${server}/hook?token=${canaries.make('the query of a webhook', { isContent: true })}`;
  for (const how of ['fail', 'crash']) {
    await caller.ask('POST', `${at}/threads/${thread.thread_id}/runs/wait`, {
      headers: caller.secretHeaders(`a run that is to ${how}`),
      body: { assistant_id: 'blurter', input: { how }, webhook, feedback_keys: ['ok'] },
    });
  }
  const withPassword = `http://ada:${canaries.make('a password in the URL of a webhook')}@127.0.0.1:1/hook`;
  await caller.ask('POST', `${at}/runs`, { body: { assistant_id: 'blurter', input: {}, webhook: withPassword } });
  const token = canaries.make('a token of feedback');
  await caller.ask('POST', `${at}/feedback/tokens/${token}`, { key: null, body: { score: 1 } });
  return thread.thread_id;
}
