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
import { checkReach } from './check-reach.ts';
import { Container } from './container.ts';
import { removeDeploymentImages } from './deployment-images.ts';
import { fetchImage, type ImageFacts } from './image.ts';
import { LoopbackRelay } from './loopback-relay.ts';
import {
  type Addresses,
  asSeenFromContainers,
  type Endpoint,
  endpointOf,
  loopbackEndpoints,
} from './machine-addresses.ts';
import { removeOrphans } from './orphans.ts';
import { type ContainerNetwork, INNER_PORT, LABELS, type RunDescription, runArguments } from './run-arguments.ts';

export interface ContainerDriverOptions extends KeepingOptions {
  /** The engine's command: `docker`, or one that takes the same arguments. */
  command: string;
  /** `host`, the name of a network of the engine, or undefined for published ports of this machine. */
  network: string | undefined;
  platform: PlatformSettings;
  /** Identifies this process among those that start containers. */
  holder: string;
  /** A folder for the files of a login, which are removed at once. */
  scratch: string;
  credentialFor: CredentialFor;
}

/** Runs a revision that is an image as containers of an engine: one or more of agent-api and of run-worker. */
export class ContainerDriver implements Driver {
  readonly #options: ContainerDriverOptions;
  readonly #relay: LoopbackRelay;

  constructor(options: ContainerDriverOptions) {
    this.#options = options;
    this.#relay = new LoopbackRelay(options);
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
      const launcher = new ContainerLauncher(image, await this.#surroundings(spec), this.#options);
      await launcher.checkReach(endpointOf(spec.databaseUri));
      return launcher;
    });
  }

  close(): void {
    this.#relay.close();
  }

  async removeLeftovers(deploymentId: string): Promise<void> {
    const { command, holder } = this.#options;
    await removeOrphans(command, deploymentId, holder);
    await removeDeploymentImages(command, deploymentId);
  }

  async #surroundings(spec: RevisionSpec): Promise<Surroundings> {
    const { network, platform } = this.#options;
    if (network === 'host') return { spec, platform, networkAt: () => ({ kind: 'host' }) };
    if (network !== undefined) return { spec, platform, networkAt: () => ({ kind: 'named', network }) };
    const machine = await this.#relay.open(loopbackEndpoints({ spec, platform }));
    const networkAt = (place: Place | undefined) => ({ kind: 'published' as const, place, machine });
    return { ...asSeenFromContainers({ spec, platform }), networkAt };
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

/** The context of a revision's container commands: addresses of the servers, and the network. */
interface Surroundings extends Addresses {
  /** @param place the address of the container; undefined when nobody connects to it */
  networkAt(place: Place | undefined): ContainerNetwork;
}

class ContainerLauncher implements Launcher {
  readonly hasCustomAuth: boolean;
  readonly graceMs: number;
  readonly #surroundings: Surroundings;
  readonly #image: ImageFacts;
  readonly #options: ContainerDriverOptions;
  /** The name of the next container, by part. */
  readonly #names = new Map<string, string>();

  constructor(image: ImageFacts, surroundings: Surroundings, options: ContainerDriverOptions) {
    const { spec } = surroundings;
    this.#surroundings = surroundings;
    this.#image = image;
    this.#options = options;
    this.hasCustomAuth = image.hasCustomAuth;
    this.graceMs = graceSecondsOf({ ...image.env, ...spec.secrets }, options.platform.graceSeconds) * 1000;
  }

  readonly findPlace = async (part: Part): Promise<Place> => {
    const { network, platform } = this.#options;
    const name = this.#newName(part.name);
    this.#names.set(part.name, name);
    if (network !== undefined && network !== 'host') return { host: name, port: INNER_PORT };
    return { host: platform.host, port: await freePort(platform.host) };
  };

  readonly launch: Launcher['launch'] = (part, place, onLine) => {
    const { spec, platform, networkAt } = this.#surroundings;
    const network = networkAt(place);
    const own = { ...this.#image.env, ...spec.secrets };
    const { env, secrets } = partVariables(spec, own, platform, part.role);
    const variables = {
      ...env,
      HOST: network.kind === 'host' ? place.host : '0.0.0.0',
      PORT: String(network.kind === 'host' ? place.port : INNER_PORT),
      // The secrets are one line on standard input. The end of standard input says that this process has ended.
      RUNYARD_SECRETS_FD: '0',
      RUNYARD_PARENT_FD: '0',
    };
    const name = this.#names.get(part.name)!;
    const args = this.#runArguments(part, { name, network, variables: Object.keys(variables), command: [part.role] });
    return new Container({ command: this.#options.command, name, args, env: variables, secrets, onLine });
  };

  /** @param database as this machine reaches it @throws StartFailure when containers do not reach it */
  async checkReach(database: Endpoint): Promise<void> {
    const { spec, networkAt } = this.#surroundings;
    const inside = endpointOf(spec.databaseUri);
    const address = `${inside.host}:${inside.port}`;
    const part = { role: 'agent-api' as const, name: 'reach' };
    const network = networkAt(undefined);
    const run = { name: this.#newName(part.name), network, variables: [], command: ['reach', address] };
    await checkReach(this.#options.command, this.#runArguments(part, run), { database, name: address });
  }

  #newName(part: string): string {
    return `runyard-${this.#surroundings.spec.revisionId}-${part}-${randomBytes(3).toString('hex')}`;
  }

  #runArguments(part: Part, run: Pick<RunDescription, 'name' | 'network' | 'variables' | 'command'>): string[] {
    const { deploymentId, revisionId, resources } = this.#surroundings.spec;
    const labels = {
      [LABELS.deployment]: deploymentId,
      [LABELS.revision]: revisionId,
      [LABELS.part]: part.name,
      [LABELS.holder]: this.#options.holder,
    };
    return runArguments({ ...run, image: this.#image.id, role: part.role, labels, resources });
  }
}
