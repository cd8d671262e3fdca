import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ImageClient } from '@runyard/test-kit';
import { extract } from 'tar';

export interface UnpackedImage {
  workingDir: string;
  /** The image's variables. Their paths are mapped to this machine, whose programs run. */
  env: Record<string, string>;
}

interface Described {
  config: { digest: string };
  layers: { digest: string }[];
}
interface Configured {
  config: { Env: string[]; WorkingDir: string };
}

/**
 * Pulls an image as a kubelet does, and unpacks its layers over each other into a folder.
 *
 * @param name with its digest
 * @param origin the URL of its registry on this machine
 * @param root represents the `/` of its containers
 */
export async function unpackImage(
  name: string,
  origin: string,
  password: string,
  root: string,
): Promise<UnpackedImage> {
  const [, repository, digest] = /^[^/]+\/(.+)@(sha256:\w+)$/.exec(name)!;
  const client = new ImageClient(origin, password);
  const get = async (path: string): Promise<Response> => {
    const answer = await client.send('GET', `/v2/${repository}/${path}`);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  const manifest = (await (await get(`manifests/${digest}`)).json()) as Described;
  const { config } = (await (await get(`blobs/${manifest.config.digest}`)).json()) as Configured;
  await mkdir(root, { recursive: true });
  for (const layer of manifest.layers) {
    const bytes = await (await get(`blobs/${layer.digest}`)).arrayBuffer();
    // Links stay as they are.
    const unpacking = extract({ cwd: root, preserveOwner: false, preservePaths: true });
    const unpacked = once(unpacking, 'end');
    unpacking.end(Buffer.from(bytes));
    await unpacked;
  }
  const variables = config.Env.map((variable) => {
    const [name, value] = [variable.split('=', 1)[0]!, variable.slice(variable.indexOf('=') + 1)];
    return [name, value.startsWith('/') ? root + value : value];
  });
  const { PATH: _, ...env } = Object.fromEntries(variables);
  return { workingDir: join(root, config.WorkingDir), env };
}
