import { REGISTRY_SEGMENT } from '../../registry/registry-address.ts';
import { StartFailure } from '../driver.ts';
import { QUICK_MS, runEngine } from './engine-command.ts';

/**
 * Removes from the engine what it has of the images that were pushed for a deployment, under their names in the platform's
 * registry. Images that have other names too stay under those. Nothing happens where there is no engine.
 */
export async function removeDeploymentImages(command: string, deploymentId: string): Promise<void> {
  const list = ['image', 'ls', `--filter=reference=*/${REGISTRY_SEGMENT}/${deploymentId}/*`];
  const format = ['--digests', '--format={{.Repository}} {{.Tag}} {{.Digest}}'];
  const signal = AbortSignal.timeout(QUICK_MS);
  const listed = await runEngine(command, [...list, ...format], { signal }).catch((error: unknown) => {
    if (error instanceof StartFailure) return null;
    throw error;
  });
  if (listed?.code !== 0) return;
  const names = listed.stdout.split('\n').filter(Boolean).flatMap(namesOf);
  if (names.length === 0) return;
  await runEngine(command, ['image', 'rm', ...new Set(names)], { signal: AbortSignal.timeout(QUICK_MS) });
}

/** By its tag and by its digest, as far as it has them. */
function namesOf(line: string): string[] {
  const [repository, tag, digest] = line.trim().split(' ');
  return [
    ...(tag === '<none>' ? [] : [`${repository}:${tag}`]),
    ...(digest === '<none>' ? [] : [`${repository}@${digest}`]),
  ];
}
