import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { promisify } from 'node:util';

const repository = path.resolve(import.meta.dirname, '../..');
const runFile = promisify(execFile);

/** Returns the engine's answer, trimmed. */
export async function runDocker(...args: string[]): Promise<string> {
  const { stdout } = await runFile('docker', args, { maxBuffer: 64 * 1024 * 1024, cwd: repository });
  return stdout.trim();
}

const parseJsonLines = (text: string) => text.split('\n').filter(Boolean).sort();

/**
 * Returns what an engine has that a test could leave behind. Images without a name belong to the engine: it builds from
 * them again.
 */
export async function listLeftovers(): Promise<Record<'containers' | 'images' | 'networks' | 'volumes', string[]>> {
  const [containers, images, networks, volumes] = await Promise.all([
    runDocker('ps', '--all', '--format', '{{.Names}}'),
    runDocker('image', 'ls', '--format', '{{.Repository}}:{{.Tag}}'),
    runDocker('network', 'ls', '--format', '{{.Name}}'),
    runDocker('volume', 'ls', '--format', '{{.Name}}'),
  ]);
  const named = parseJsonLines(images).filter((image) => !image.includes('<none>'));
  return {
    containers: parseJsonLines(containers),
    images: [...new Set(named)],
    networks: parseJsonLines(networks),
    volumes: parseJsonLines(volumes),
  };
}

/** Returns the ids of the running containers of one part of a deployment. */
export async function listContainers(deploymentId: string, part: string): Promise<string[]> {
  const labels = [`io.runyard.deployment=${deploymentId}`, `io.runyard.part=${part}`];
  const filters = labels.map((label) => `--filter=label=${label}`);
  return parseJsonLines(await runDocker('ps', '--no-trunc', '--format', '{{.ID}}', ...filters));
}

/**
 * Builds images of this checkout, as `<registry>/<name>:<tag>`. Their stages fetch packages by the machine's own network:
 * it may reach registries where the engine's does not.
 */
export async function buildImages(
  names: string[],
  { registry, tag }: { registry: string; tag: string },
): Promise<void> {
  const options = ['--network', 'host', '--registry', registry, '--tag', tag];
  const building = runFile(process.execPath, ['infra/bootstrap.mjs', 'images', ...options, ...names], {
    cwd: repository,
  });
  building.child.stdout?.pipe(process.stdout);
  await building;
}

/** Builds the base image of this checkout; `RUNYARD_TEST_BASE_IMAGE` names one that is built already. */
export async function buildBaseImage(): Promise<{ name: string; remove(): Promise<unknown> }> {
  const given = process.env.RUNYARD_TEST_BASE_IMAGE;
  if (given) return { name: given, remove: async () => undefined };
  const tag = `test-${randomBytes(4).toString('hex')}`;
  const name = `runyard/agent-server:${tag}`;
  await buildImages(['agent-server'], { registry: 'runyard', tag });
  return { name, remove: () => runDocker('image', 'rm', name) };
}
