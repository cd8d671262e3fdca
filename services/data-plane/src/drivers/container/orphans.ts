import { RevisionStartError } from '@runyard/deployments';
import { LABELS } from '../labels.ts';
import { QUICK_MS, runEngine } from './engine-command.ts';

/**
 * Removes containers of a deployment that other processes left when they were killed or lost their lease. Does nothing
 * without an engine.
 */
export async function removeOrphanContainers(command: string, deploymentId: string, leaseOwner: string): Promise<void> {
  const format = `{{.ID}} {{.Label "${LABELS.leaseOwner}"}}`;
  const list = [
    'ps',
    '--all',
    '--no-trunc',
    `--filter=label=${LABELS.deployment}=${deploymentId}`,
    `--format=${format}`,
  ];
  const listed = await runEngine(command, list, { signal: AbortSignal.timeout(QUICK_MS) }).catch((error: unknown) => {
    if (error instanceof RevisionStartError) return null;
    throw error;
  });
  if (listed?.code !== 0) return;
  const left = listed.stdout
    .split('\n')
    .map((line) => line.trim().split(' '))
    .filter(([id, owner]) => id && owner !== leaseOwner)
    .map(([id]) => id!);
  if (left.length === 0) return;
  await runEngine(command, ['rm', '--force', ...left], { signal: AbortSignal.timeout(QUICK_MS) });
}
