import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askDocker, hasBuildx } from '../bootstrap/container-engine.mjs';
import { run, StepError } from '../bootstrap/steps.mjs';

/**
 * Finds how the engine builds: by BuildKit's command where it is installed, and whether an image may be several
 * manifests, as one for several platforms and one with an attestation are. Without `push` the image stays with the
 * engine, whose store takes that only where it is containerd's; a registry takes it from any builder but the engine's own.
 *
 * @throws StepError where several platforms are asked for and cannot be had
 */
export async function findBuilder({ push, platform }) {
  const buildx = await hasBuildx();
  const hasIndexes = buildx && ((await isContainerdStore()) || (push && !(await isEngineBuilder())));
  if (platform?.includes(',') && !hasIndexes) {
    throw new StepError(
      'Images for several platforms need `docker buildx`, and an engine with the containerd image store, or `--push` ' +
        'and a builder made by `docker buildx create --use`.',
    );
  }
  return { buildx, hasIndexes };
}

async function isContainerdStore() {
  return (await askDocker('info', '--format', '{{json .DriverStatus}}')).includes('io.containerd.snapshotter');
}

async function isEngineBuilder() {
  return /^Driver:\s+docker$/m.test(await askDocker('buildx', 'inspect'));
}

/**
 * Builds an image, under several names, and pushes it if asked to. Returns its digest, or its id where it has not been
 * pushed, and its size in bytes where the engine has it.
 *
 * @throws StepError with the end of what the engine printed, when it fails
 */
export async function buildImage(builder, { names, dockerfile, labels, push, platform, network }) {
  const pushesItself = push && builder.hasIndexes;
  const folder = mkdtempSync(join(tmpdir(), 'runyard-image-'));
  const metadata = join(folder, 'metadata.json');
  // An interruption ends the process, without what stands below.
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', removeFolder);
  const args = [
    ...(builder.buildx ? ['buildx', 'build', pushesItself ? '--push' : '--load'] : ['build']),
    ...(pushesItself ? ['--metadata-file', metadata] : []),
    // Builders of BuildKit attest how an image came to be; others refuse the option.
    ...(builder.hasIndexes ? ['--provenance=mode=max'] : []),
    ...(platform ? ['--platform', platform] : []),
    ...(network ? ['--network', network] : []),
    ...Object.entries(labels).flatMap(([name, value]) => ['--label', `${name}=${value}`]),
    ...names.flatMap((name) => ['--tag', name]),
    ...['--file', dockerfile, '.'],
  ];
  try {
    await run(`Building ${names[0]}`, 'docker', args, { quiet: true });
    if (pushesItself) return { digest: JSON.parse(readFileSync(metadata, 'utf8'))['containerimage.digest'] };
  } finally {
    removeFolder();
    process.off('exit', removeFolder);
  }
  if (push) for (const name of names) await run(`Pushing ${name}`, 'docker', ['push', name], { quiet: true });
  const [image] = JSON.parse(await askDocker('image', 'inspect', names[0]));
  const repositoryName = names[0].slice(0, names[0].lastIndexOf(':'));
  const pushed = image.RepoDigests?.find((each) => each.startsWith(`${repositoryName}@`));
  return { digest: (push && pushed?.split('@')[1]) || image.Id, bytes: image.Size };
}
