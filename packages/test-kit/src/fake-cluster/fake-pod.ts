import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { V1Container, V1PodSpec } from '@kubernetes/client-node';
import { FakeContainer, type Instance } from './fake-container.ts';
import type { ObjectStore, StoredObject } from './object-store.ts';
import { PodFolder } from './pod-folder.ts';
import { type UnpackedImage, unpackImage } from './unpack-image.ts';

export interface PodEnvironment {
  store: ObjectStore;
  folder: string;
  /** The folder with the commands of images. Foreign images have none. */
  commands: string;
  /** The address that the pod's services listen on. */
  address: string;
  /** Returns the URL of a registry by its host; undefined when images of that host need no pull. */
  originOf(host: string): string | undefined;
}

/** A kubelet checks once a second for ended containers. */
const CHECK_MS = 1_000;
const PROBE_MS = 20;
const BACK_OFF_MS = 300;

/**
 * A pod whose containers are processes of this machine. Its volumes are folders, whose paths replace those in commands.
 */
export class FakePod {
  readonly name: string;
  readonly #spec: V1PodSpec;
  readonly #environment: PodEnvironment;
  readonly #folder: PodFolder;
  readonly #containers: FakeContainer[];
  readonly #gone = new AbortController();
  #killTimer: NodeJS.Timeout | undefined;
  #killAtMs = Infinity;
  #isEnding = false;
  #isUnschedulable = false;
  #image: UnpackedImage | undefined;

  constructor(pod: StoredObject, environment: PodEnvironment) {
    this.name = pod.metadata.name;
    this.#spec = pod.spec as V1PodSpec;
    this.#environment = environment;
    this.#folder = new PodFolder(join(environment.folder, this.name));
    const made = (isInit: boolean) => (container: V1Container) => new FakeContainer(this.name, container, isInit);
    const { initContainers = [], containers } = this.#spec;
    this.#containers = [...initContainers.map(made(true)), ...containers.map(made(false))];
  }

  async run(): Promise<void> {
    try {
      await this.#run();
    } catch (error) {
      if (!this.#gone.signal.aborted) throw error;
    }
  }

  /** Kills a container like the kernel or the kubelet. */
  kill(container: string, reason: string): void {
    this.#container(container).kill(reason);
  }

  /** Ends all processes, and then removes the pod. A shorter grace replaces a longer one. */
  end(graceSeconds: number): void {
    const killAtMs = performance.now() + graceSeconds * 1000;
    if (killAtMs < this.#killAtMs) {
      clearTimeout(this.#killTimer);
      this.#killAtMs = killAtMs;
      this.#killTimer = setTimeout(() => {
        for (const container of this.#containers) container.kill();
      }, graceSeconds * 1000);
    }
    if (!this.#isEnding) void this.#end();
  }

  readLog(query: URLSearchParams, onLine: (line: string) => void, onEnd: () => void): (() => void) | string {
    return this.#container(query.get('container')).readLog(query, onLine, onEnd);
  }

  async #run(): Promise<void> {
    const { resources } = this.#spec.containers[0]!;
    if (Number.parseInt(resources?.requests?.cpu ?? '0', 10) > 4000) {
      this.#isUnschedulable = true;
      return this.#report();
    }
    const missing = await this.#pull();
    if (missing !== undefined) {
      for (const reason of ['ErrImagePull', 'ImagePullBackOff']) {
        this.#containers[0]!.waiting = { reason, message: missing };
        this.#report();
        await this.#pause(PROBE_MS);
      }
      return;
    }
    await this.#mount();
    for (const container of this.#containers.filter(({ isInit }) => isInit)) {
      for (;;) {
        const instance = this.#start(container);
        this.#report();
        await container.ended();
        container.message = await readFile(this.#folder.terminationLog(container.spec), 'utf8').catch(() => '');
        this.#report();
        if (instance.exit?.code === 0) break;
        await this.#backOff(container);
      }
    }
    await Promise.all(this.#containers.filter(({ isInit }) => !isInit).map((container) => this.#keep(container)));
  }

  /** @returns why the image cannot be pulled */
  async #pull(): Promise<string | undefined> {
    const { store, originOf } = this.#environment;
    const { image = '' } = this.#spec.containers[0]!;
    if (image.includes('missing')) return 'manifest unknown';
    const host = image.split('/', 1)[0]!;
    const origin = originOf(host);
    if (origin === undefined) return undefined;
    const secrets = (this.#spec.imagePullSecrets ?? []).map(({ name }) => store.find('secrets', name!)?.data);
    const logins = secrets.map((data) => JSON.parse(Buffer.from(data['.dockerconfigjson'], 'base64').toString()));
    const password = logins.map(({ auths }) => auths[host]?.password).find(Boolean) ?? 'none';
    try {
      this.#image = await unpackImage(image, origin, password, this.#folder.image);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  async #keep(container: FakeContainer): Promise<void> {
    while (!this.#isEnding) {
      const instance = this.#start(container);
      this.#report();
      const exited = container.ended();
      void this.#probe(container, instance);
      await exited;
      container.isReady = false;
      this.#report();
      // The first restart comes as soon as the end is noticed.
      if (container.starts === 1) await this.#pause(CHECK_MS);
      else await this.#backOff(container);
    }
  }

  async #backOff(container: FakeContainer): Promise<void> {
    container.waiting = { reason: 'CrashLoopBackOff' };
    this.#report();
    await this.#pause(BACK_OFF_MS);
  }

  async #probe(container: FakeContainer, instance: Instance): Promise<void> {
    const answers = async (probe: V1Container['startupProbe']) => {
      if (!probe?.httpGet) return true;
      const { path, port } = probe.httpGet;
      return fetch(`http://${this.#environment.address}:${port}${path}`).then(
        ({ ok }) => ok,
        () => false,
      );
    };
    let isStarted = false;
    while (!instance.exit && !this.#gone.signal.aborted) {
      isStarted ||= await answers(container.spec.startupProbe);
      const isReady = isStarted && (await answers(container.spec.readinessProbe)) && !instance.exit;
      if (isReady !== container.isReady) {
        container.isReady = isReady;
        this.#report();
      }
      await pause(isReady ? PROBE_MS * 10 : PROBE_MS);
    }
  }

  /** Waits for missing Secrets, like a kubelet. */
  async #mount(): Promise<void> {
    for (const { name, secret } of this.#spec.volumes ?? []) {
      const at = this.#folder.volume(name);
      await mkdir(at, { recursive: true });
      if (!secret) continue;
      for (const [key, value] of Object.entries(await this.#secret(secret.secretName!))) {
        await writeFile(join(at, key), value);
      }
    }
    for (const { envFrom } of this.#spec.containers) {
      for (const source of envFrom ?? []) await this.#secret(source.secretRef!.name!);
    }
  }

  async #secret(name: string): Promise<Record<string, string>> {
    for (;;) {
      const values = this.#secretNow(name);
      if (values) return values;
      await this.#pause(PROBE_MS);
    }
  }

  #secretNow(name: string): Record<string, string> | undefined {
    const data = this.#environment.store.find('secrets', name)?.data as Record<string, string> | undefined;
    const entries = data && Object.entries(data);
    return entries && Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
  }

  #start(container: FakeContainer): Instance {
    const { commands, address } = this.#environment;
    const { spec } = container;
    const secrets = (spec.envFrom ?? []).map((source) => this.#secretNow(source.secretRef!.name!));
    const image = {
      PATH: `${spec.image!.includes('foreign') ? '' : `${commands}:`}${process.env.PATH}`,
      ...(spec.image!.includes('with-auth') && { LANGGRAPH_AUTH: '{"path":"./auth.ts:auth"}' }),
      ...this.#image?.env,
    };
    // Every pod has an address, but no network of its own, so its services listen on that address.
    const own = spec.ports ? { HOST: address } : {};
    return container.start({
      command: spec.command!.map((word) => this.#folder.replacePaths(word, spec)),
      env: Object.assign({}, image, ...secrets, own),
      cwd: this.#image?.workingDir,
    });
  }

  async #end(): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.#containers.map((container) => container.stop()));
    clearTimeout(this.#killTimer);
    this.#gone.abort();
    await this.#folder.remove();
    this.#environment.store.remove('pods', this.name);
  }

  #report(): void {
    const { store, address } = this.#environment;
    const pod = store.find('pods', this.name);
    if (!pod) return;
    const isReady = this.#containers.every(({ isInit, isReady: ready }) => isInit || ready);
    const condition = (type: string, isTrue: boolean, message?: string) => ({
      type,
      status: isTrue ? 'True' : 'False',
      message,
    });
    const unschedulable = this.#isUnschedulable ? '0/1 nodes are available: 1 Insufficient cpu.' : undefined;
    store.put('pods', {
      ...pod,
      status: {
        phase: this.#containers.some(({ isInit, starts }) => !isInit && starts > 0) ? 'Running' : 'Pending',
        ...(this.#isUnschedulable ? {} : { podIP: address }),
        conditions: [condition('PodScheduled', !this.#isUnschedulable, unschedulable), condition('Ready', isReady)],
        initContainerStatuses: this.#containers.filter(({ isInit }) => isInit).map(({ status }) => status),
        containerStatuses: this.#containers.filter(({ isInit }) => !isInit).map(({ status }) => status),
      },
    });
  }

  #container(name: string | null): FakeContainer {
    return this.#containers.find(({ spec }) => spec.name === name)!;
  }

  #pause(ms: number): Promise<void> {
    return pause(ms, undefined, { signal: this.#gone.signal });
  }
}
