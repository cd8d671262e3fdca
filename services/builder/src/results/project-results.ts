import { arch } from 'node:os';
import { type BuildEnd, type BuildOrder, type OrderedResult, TUNABLE_VARIABLES } from '@runyard/contracts';
import { BuildError, type LocalProject } from '@runyard/deployments';
import { ImageRepository, PROJECT_REPOSITORY, RegistryRefusedError } from '@runyard/image-registry';
import type { ControlPlaneClient } from '../jobs/control-plane-client.ts';
import { imageVariables } from './image-variables.ts';
import { packArchive, pushLayer } from './pack-project.ts';

export interface ResultContext {
  log: { write(line: string, options: { source: string }): void };
  signal: AbortSignal;
}

/** Image names of architectures, by their Node.js names where these differ. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** Sends built projects to where orders want them. */
export class ProjectResults {
  readonly #client: Pick<ControlPlaneClient, 'put'>;
  readonly #registryUrl: string;

  constructor({ client, registryUrl }: { client: Pick<ControlPlaneClient, 'put'>; registryUrl: string }) {
    this.#client = client;
    this.#registryUrl = registryUrl;
  }

  /** @throws BuildError when what is built here runs on another machine than is wanted */
  check(result: OrderedResult): void {
    const own = ARCHITECTURES[arch()] ?? arch();
    if (result.kind === 'archive' || result.architecture === own) return;
    throw new BuildError(`The image is for linux/${result.architecture}, and what is built here runs on linux/${own}`);
  }

  /**
   * Packs a project and sends it.
   *
   * @throws BuildError when a file cannot be packed, or there are too many bytes; ControlPlaneUnavailableError or
   * RegistryUnavailableError
   */
  async send(
    project: LocalProject,
    { deployment_id: deploymentId, result }: Pick<BuildOrder, 'deployment_id' | 'result'>,
    { log, signal }: ResultContext,
  ): Promise<BuildEnd> {
    const say = (line: string) => log.write(line, { source: 'build' });
    if (result.kind === 'archive') {
      const options = { bytesMax: result.bytes_max, say };
      await packArchive(project.directory, options, (bytes) => this.#client.put(result.url, bytes, signal));
      return { kind: 'archive' };
    }
    const place = { deploymentId, name: PROJECT_REPOSITORY };
    const repository = new ImageRepository({ url: this.#registryUrl, place, token: result.push_token });
    say('Packing the project');
    const layer = await pushLayer(repository, project.directory, { say, signal }).catch((error: unknown) => {
      throw error instanceof RegistryRefusedError ? new BuildError(reasonOf(error), { cause: error }) : error;
    });
    return { kind: 'layer', ...layer, variables: imageVariables(project), settings: settingsOf(project.env) };
  }
}

function reasonOf({ code, message }: RegistryRefusedError): string {
  if (code !== 'SIZE_INVALID') return message;
  return 'The project is larger, packed, than the registry takes (REGISTRY_BLOB_LIMIT_BYTES)';
}

function settingsOf(env: Record<string, string>): Record<string, string> {
  const names: readonly string[] = TUNABLE_VARIABLES;
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.includes(name)));
}
