import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@runyard/service-kit';
import type { RevisionLog } from '../../logs/revision-log.ts';
import { graceSecondsOf, type PlatformSettings, partVariables } from '../deployment-variables.ts';
import { type Driver, type RevisionSpec, type RunningRevision, StartFailure, type StartOptions } from '../driver.ts';
import type { Place } from '../process/kept-service.ts';
import type { KeepingOptions, Launcher, Part } from '../process/launcher.ts';
import { startRevision } from '../process/start-revision.ts';
import type { CredentialFor } from '../pull-credential.ts';
import { Container } from './container.ts';
import { fetchImage, type ImageFacts } from './image.ts';
import { removeOrphans } from './orphans.ts';
import { type ContainerNetwork, INNER_PORT, LABELS, runArguments } from './run-arguments.ts';

export interface ContainerDriverOptions extends KeepingOptions {
  /** The engine's command: `docker`, or one that takes the same arguments. */
  command: string;
  /** `host`, the name of a network of the engine, or undefined for ports of this machine. */
  network: string | undefined;
  platform: PlatformSettings;
  /** This process among those that start containers. */
  holder: string;
  /** For what a login writes down, which is removed at once. */
  scratch: string;
  credentialFor: CredentialFor;
}

/** Runs a revision that is an image, as containers of an engine: one or more of agent-api and of run-worker. */
export class ContainerDriver implements Driver {
  readonly #options: ContainerDriverOptions;

  constructor(options: ContainerDriverOptions) {
    this.#options = options;
  }

  async start(spec: RevisionSpec, options: StartOptions): Promise<RunningRevision> {
    if (spec.artifact.kind !== 'image') throw new Error('a project is not run as containers');
    if (spec.namespace !== undefined) {
      throw new StartFailure('It is to run in a cluster, and KUBERNETES_NAMESPACE, which names one, is not set here.');
    }
    const { imageUri, settings } = spec.artifact;
    return startRevision(spec, options, this.#options, async (log, signal) => {
      const fetched = await this.#fetch(spec, imageUri, log, signal);
      const image = { ...fetched, env: { ...fetched.env, ...settings } };
      await removeOrphans(this.#options.command, spec.deploymentId, this.#options.holder);
      return new ContainerLauncher(spec, image, this.#options);
    });
  }

  async removeLeftovers(deploymentId: string): Promise<void> {
    const { command, holder } = this.#options;
    await removeOrphans(command, deploymentId, holder);
  }

  async #fetch(spec: RevisionSpec, imageUri: string, log: RevisionLog, signal: AbortSignal): Promise<ImageFacts> {
    const { command, scratch, credentialFor } = this.#options;
    await mkdir(scratch, { recursive: true, mode: 0o700 });
    const configDir = await mkdtemp(join(scratch, 'login-'));
    try {
      const credential = await credentialFor(spec, imageUri, signal);
      return await fetchImage(command, imageUri, { log, signal, credential, configDir });
    } finally {
      await rm(configDir, { recursive: true, force: true });
    }
  }
}

class ContainerLauncher implements Launcher {
  readonly hasCustomAuth: boolean;
  readonly graceMs: number;
  readonly #spec: RevisionSpec;
  readonly #image: ImageFacts;
  readonly #options: ContainerDriverOptions;
  /** Of the next container of each part. */
  readonly #names = new Map<string, string>();

  constructor(spec: RevisionSpec, image: ImageFacts, options: ContainerDriverOptions) {
    this.#spec = spec;
    this.#image = image;
    this.#options = options;
    this.hasCustomAuth = image.hasCustomAuth;
    this.graceMs = graceSecondsOf({ ...image.env, ...spec.secrets }, options.platform.graceSeconds) * 1000;
  }

  readonly findPlace = async (part: Part): Promise<Place> => {
    const { network, platform } = this.#options;
    const name = `runyard-${this.#spec.revisionId}-${part.name}-${randomBytes(3).toString('hex')}`;
    this.#names.set(part.name, name);
    if (network !== undefined && network !== 'host') return { host: name, port: INNER_PORT };
    return { host: platform.host, port: await freePort(platform.host) };
  };

  readonly launch: Launcher['launch'] = (part, place, onLine) => {
    const { command, platform, holder } = this.#options;
    const { deploymentId, revisionId, resources } = this.#spec;
    const network = this.#networkAt(place);
    const own = { ...this.#image.env, ...this.#spec.secrets };
    const { env, secrets } = partVariables(this.#spec, own, platform, part.role);
    const variables = {
      ...env,
      HOST: network.kind === 'host' ? place.host : '0.0.0.0',
      PORT: String(network.kind === 'host' ? place.port : INNER_PORT),
      // One line of secrets on standard input, whose end says that this process is gone.
      RUNYARD_SECRETS_FD: '0',
      RUNYARD_PARENT_FD: '0',
    };
    const name = this.#names.get(part.name)!;
    const labels = {
      [LABELS.deployment]: deploymentId,
      [LABELS.revision]: revisionId,
      [LABELS.part]: part.name,
      [LABELS.holder]: holder,
    };
    const description = { name, image: this.#image.id, part, labels, resources, network };
    const args = runArguments({ ...description, variables: Object.keys(variables) });
    return new Container({ command, name, args, env: variables, secrets, onLine });
  };

  #networkAt({ host, port }: Place): ContainerNetwork {
    const { network } = this.#options;
    if (network === 'host') return { kind: 'host' };
    return network === undefined ? { kind: 'published', host, port } : { kind: 'named', network };
  }
}
