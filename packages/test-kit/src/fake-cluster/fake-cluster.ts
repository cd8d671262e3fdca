import { randomInt } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { ApiError } from './api-error.ts';
import { ApiServer, type Rule } from './api-server.ts';
import { Controllers } from './controllers.ts';
import { FakePod } from './fake-pod.ts';
import { ObjectStore, type StoredObject } from './object-store.ts';

const TOKEN = 'the token of a service account';
export const NAMESPACE = 'agents';

/**
 * A fake of a Kubernetes cluster with one node: an API server that accepts what the published schemas allow and the
 * given rules grant, controllers for Deployments and their autoscalers, and a kubelet that runs containers as processes
 * of this machine.
 */
export class FakeCluster {
  readonly store = new ObjectStore();
  readonly #folder: string;
  readonly #pods = new Map<string, FakePod>();
  // Pods have addresses in 127.0.0.0/8, which all belong to this machine.
  readonly #subnet = `127.${randomInt(16, 250)}.${randomInt(0, 250)}`;
  #addresses = 0;
  readonly #originOf: (host: string) => string | undefined;
  readonly controllers = new Controllers(this.store, (name) => this.#remove(name, undefined));
  readonly api: ApiServer;
  #url = '';

  private constructor(folder: string, rules: Rule[], originOf: (host: string) => string | undefined) {
    this.#folder = folder;
    this.#originOf = originOf;
    this.api = new ApiServer({
      store: this.store,
      token: TOKEN,
      rules,
      removePod: (name, grace) => this.#remove(name, grace),
      readLog: (name, query, onLine, onEnd) => {
        const stop = this.#pods.get(name)?.readLog(query, onLine, onEnd) ?? 'its pod has not begun';
        if (typeof stop === 'string') throw new ApiError(400, 'BadRequest', stop);
        return stop;
      },
    });
    this.store.onEvent(({ type, plural, object }) => {
      if (plural !== 'pods') return;
      if (type === 'ADDED') this.#run(object);
      if (type === 'DELETED') this.#pods.delete(object.metadata.name);
    });
  }

  /**
   * @param agent replaces the platform's services
   * @param originOf returns the URL of a registry by its host; by default images of every name exist
   */
  static async start(
    agent: string,
    rules: Rule[],
    originOf: (host: string) => string | undefined = () => undefined,
  ): Promise<FakeCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'runyard-cluster-'));
    const cluster = new FakeCluster(folder, rules, originOf);
    const command = join(folder, 'commands/runyard-agent');
    await mkdir(join(folder, 'commands'));
    await writeFile(command, `#!/bin/sh\nexec "${process.execPath}" "${agent}"\n`);
    await chmod(command, 0o755);
    cluster.#url = await cluster.api.listen();
    return cluster;
  }

  kubeConfig(token = TOKEN): KubeConfig {
    const config = new KubeConfig();
    config.loadFromString(this.kubeConfigFile(token));
    return config;
  }

  kubeConfigFile(token = TOKEN): string {
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'fake', cluster: { server: this.#url, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'control-plane', user: { token } }],
      contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'control-plane' } }],
      'current-context': 'fake',
    });
  }

  objects(plural: string): StoredObject[] {
    return this.store.list(plural);
  }

  /** Returns the pod whose name contains this part. */
  pod(part: string): FakePod {
    const found = [...this.#pods.values()].find(({ name }) => name.includes(part));
    if (!found) throw new Error(`there is no pod ${part}`);
    return found;
  }

  async close(): Promise<void> {
    await this.api.close();
    this.controllers.forbidsPods = 'the cluster is closed';
    const gone = [...this.#pods.keys()].map(
      (name) =>
        new Promise<void>((resolve) => {
          this.store.onEvent(({ type, object }) => {
            if (type === 'DELETED' && object.metadata.name === name) resolve();
          });
          this.#remove(name, 0);
        }),
    );
    await Promise.all(gone);
    await rm(this.#folder, { recursive: true, force: true });
  }

  #run(object: StoredObject): void {
    this.#addresses += 1;
    const pod = new FakePod(object, {
      store: this.store,
      folder: this.#folder,
      commands: join(this.#folder, 'commands'),
      address: `${this.#subnet}.${this.#addresses}`,
      originOf: this.#originOf,
    });
    this.#pods.set(pod.name, pod);
    // The pod starts after all watchers have seen its object.
    setImmediate(() => void pod.run());
  }

  #remove(name: string, graceSeconds: number | undefined): void {
    const object = this.store.find('pods', name);
    if (!object) return;
    const grace = graceSeconds ?? object.spec.terminationGracePeriodSeconds ?? 30;
    const { deletionTimestamp = new Date().toISOString(), deletionGracePeriodSeconds } = object.metadata;
    const shortest = Math.min(grace, deletionGracePeriodSeconds ?? grace);
    const metadata = { ...object.metadata, deletionTimestamp, deletionGracePeriodSeconds: shortest };
    this.store.put('pods', { ...object, metadata });
    this.#pods.get(name)!.end(grace);
  }
}
