import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RevisionLog } from '@runyard/revision-logs';
import { freePort } from '@runyard/service-kit';
import { graceSecondsOf, type PlatformSettings, replicaVariables } from '../deployment-variables.ts';
import type { Driver, RevisionSpec, RevisionStartOptions, RunningRevision } from '../driver.ts';
import { LABELS } from '../labels.ts';
import type { Launcher, Replica, SupervisionOptions } from '../process/launcher.ts';
import { startRevision } from '../process/start-revision.ts';
import type { ServiceAddress } from '../process/supervised-service.ts';
import type { FindPullCredential } from '../pull-credential.ts';
import { checkDatabaseReach } from './check-reach.ts';
import { Container } from './container.ts';
import { removeDeploymentImages } from './deployment-images.ts';
import { fetchImage, type ImageInspection } from './image.ts';
import { LoopbackRelay } from './loopback-relay.ts';
import {
  type Addresses,
  type Endpoint,
  endpointOf,
  loopbackEndpoints,
  toContainerAddresses,
} from './machine-addresses.ts';
import { removeOrphanContainers } from './orphans.ts';
import { type ContainerNetwork, INNER_PORT, type RunDescription, runArguments } from './run-arguments.ts';

export interface ContainerDriverOptions extends SupervisionOptions {
  /** The engine's command: `docker`, or one that takes the same arguments. */
  command: string;
  /** `host`, the name of a network of the engine, or undefined for published ports of this machine. */
  network: string | undefined;
  platform: PlatformSettings;
  /** Identifies this process among those that start containers. */
  leaseOwner: string;
  /** A folder for the files of a login, which are removed at once. */
  temporaryFolder: string;
  credentialFor: FindPullCredential;
}

/** Runs a revision that is an image as containers of an engine: one or more of agent-api and of run-worker. */
export class ContainerDriver implements Driver {
  readonly #options: ContainerDriverOptions;
  readonly #relay: LoopbackRelay;

  constructor(options: ContainerDriverOptions) {
    this.#options = options;
    this.#relay = new LoopbackRelay(options);
  }

  async start(spec: RevisionSpec, options: RevisionStartOptions): Promise<RunningRevision> {
    if (spec.artifact.kind !== 'image') throw new Error('a project is not run as containers');
    const { imageUri, settings } = spec.artifact;
    return startRevision(spec, options, this.#options, async (log, signal) => {
      const fetched = await this.#fetch(spec, imageUri, log, signal);
      const image = { ...fetched, env: { ...fetched.env, ...settings } };
      await removeOrphanContainers(this.#options.command, spec.deploymentId, this.#options.leaseOwner);
      const launcher = new ContainerLauncher(image, await this.#makeContext(spec), this.#options);
      await launcher.checkReach(endpointOf(spec.databaseUri));
      return launcher;
    });
  }

  close(): void {
    this.#relay.close();
  }

  async removeLeftovers(deploymentId: string): Promise<void> {
    const { command, leaseOwner } = this.#options;
    await removeOrphanContainers(command, deploymentId, leaseOwner);
    await removeDeploymentImages(command, deploymentId);
  }

  async #makeContext(spec: RevisionSpec): Promise<CommandContext> {
    const { network, platform } = this.#options;
    if (network === 'host') return { spec, platform, networkAt: () => ({ kind: 'host' }) };
    if (network !== undefined) return { spec, platform, networkAt: () => ({ kind: 'named', network }) };
    const machine = await this.#relay.open(loopbackEndpoints({ spec, platform }));
    const networkAt = (address: ServiceAddress | undefined) => ({ kind: 'published' as const, address, machine });
    return { ...toContainerAddresses({ spec, platform }), networkAt };
  }

  async #fetch(spec: RevisionSpec, imageUri: string, log: RevisionLog, signal: AbortSignal): Promise<ImageInspection> {
    const { command, temporaryFolder, credentialFor } = this.#options;
    await mkdir(temporaryFolder, { recursive: true, mode: 0o700 });
    const configDir = await mkdtemp(join(temporaryFolder, 'login-'));
    try {
      const credential = await credentialFor(spec, imageUri, signal);
      return await fetchImage(command, imageUri, { log, signal, credential, configDir });
    } finally {
      await rm(configDir, { recursive: true, force: true });
    }
  }
}

/** The context of a revision's container commands: addresses of the servers, and the network. */
interface CommandContext extends Addresses {
  /** @param address the address of the container; undefined when nobody connects to it */
  networkAt(address: ServiceAddress | undefined): ContainerNetwork;
}

class ContainerLauncher implements Launcher {
  readonly hasCustomAuth: boolean;
  readonly graceMs: number;
  readonly #context: CommandContext;
  readonly #image: ImageInspection;
  readonly #options: ContainerDriverOptions;
  /** The name of the next container, by replica. */
  readonly #names = new Map<string, string>();

  constructor(image: ImageInspection, context: CommandContext, options: ContainerDriverOptions) {
    const { spec } = context;
    this.#context = context;
    this.#image = image;
    this.#options = options;
    this.hasCustomAuth = image.hasCustomAuth;
    this.graceMs = graceSecondsOf({ ...image.env, ...spec.secrets }, options.platform.graceSeconds) * 1000;
  }

  readonly findAddress = async (replica: Replica): Promise<ServiceAddress> => {
    const { network, platform } = this.#options;
    const name = this.#newName(replica.name);
    this.#names.set(replica.name, name);
    if (network !== undefined && network !== 'host') return { host: name, port: INNER_PORT };
    return { host: platform.host, port: await freePort(platform.host) };
  };

  readonly launch: Launcher['launch'] = (replica, address, onLine) => {
    const { spec, platform, networkAt } = this.#context;
    const network = networkAt(address);
    const own = { ...this.#image.env, ...spec.secrets };
    const { env, secrets } = replicaVariables(spec, own, platform, replica.role);
    const variables = {
      ...env,
      HOST: network.kind === 'host' ? address.host : '0.0.0.0',
      PORT: String(network.kind === 'host' ? address.port : INNER_PORT),
      // The secrets are one line on standard input. The end of standard input says that this process has ended.
      RUNYARD_SECRETS_FD: '0',
      RUNYARD_PARENT_FD: '0',
    };
    const name = this.#names.get(replica.name)!;
    const args = this.#runArguments(replica, {
      name,
      network,
      variables: Object.keys(variables),
      command: [replica.role],
    });
    return new Container({ command: this.#options.command, name, args, env: variables, secrets, onLine });
  };

  /** @param database as this machine reaches it @throws RevisionStartError when containers do not reach it */
  async checkReach(database: Endpoint): Promise<void> {
    const { spec, networkAt } = this.#context;
    const inside = endpointOf(spec.databaseUri);
    const address = `${inside.host}:${inside.port}`;
    const replica = { role: 'agent-api' as const, name: 'reach' };
    const network = networkAt(undefined);
    const run = { name: this.#newName(replica.name), network, variables: [], command: ['reach', address] };
    await checkDatabaseReach(this.#options.command, this.#runArguments(replica, run), { database, name: address });
  }

  #newName(replica: string): string {
    return `runyard-${this.#context.spec.revisionId}-${replica}-${randomBytes(3).toString('hex')}`;
  }

  #runArguments(replica: Replica, run: Pick<RunDescription, 'name' | 'network' | 'variables' | 'command'>): string[] {
    const { deploymentId, revisionId, resources } = this.#context.spec;
    const labels = {
      [LABELS.deployment]: deploymentId,
      [LABELS.revision]: revisionId,
      [LABELS.part]: replica.name,
      [LABELS.leaseOwner]: this.#options.leaseOwner,
    };
    return runArguments({ ...run, image: this.#image.id, role: replica.role, labels, resources });
  }
}
