import { RevisionStartError } from '@runyard/deployments';
import { REGISTRY_SEGMENT } from '@runyard/image-registry';
import { QUICK_MS, runEngine } from './engine-command.ts';

/**
 * Removes a deployment's images from the engine, under their names in the platform's registry. Images with other names
 * remain under those. Does nothing without an engine.
 */
export async function removeDeploymentImages(command: string, deploymentId: string): Promise<void> {
  const list = ['image', 'ls', `--filter=reference=*/${REGISTRY_SEGMENT}/${deploymentId}/*`];
  const format = ['--digests', '--format={{.Repository}} {{.Tag}} {{.Digest}}'];
  const signal = AbortSignal.timeout(QUICK_MS);
  const listed = await runEngine(command, [...list, ...format], { signal }).catch((error: unknown) => {
    if (error instanceof RevisionStartError) return null;
    throw error;
  });
  if (listed?.code !== 0) return;
  const names = listed.stdout.split('\n').filter(Boolean).flatMap(namesOf);
  if (names.length === 0) return;
  await runEngine(command, ['image', 'rm', ...new Set(names)], { signal: AbortSignal.timeout(QUICK_MS) });
}

/** Returns the image's names by tag and by digest, if it has them. */
function namesOf(line: string): string[] {
  const [repository, tag, digest] = line.trim().split(' ');
  return [
    ...(tag === '<none>' ? [] : [`${repository}:${tag}`]),
    ...(digest === '<none>' ? [] : [`${repository}@${digest}`]),
  ];
}
