import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { V1Container, V1PodSpec } from '@kubernetes/client-node';
import type { ObjectStore, StoredObject } from './object-store.ts';
import { type UnpackedImage, unpackImage } from './unpack-image.ts';

export interface PodSurroundings {
  store: ObjectStore;
  folder: string;
  /** Where commands of images are; of foreign images there are none. */
  commands: string;
  /** Where the pod's services listen. */
  address: string;
  /** Where a registry is reached, by its host; undefined where images of that host are taken for granted. */
  originOf(host: string): string | undefined;
}

interface Instance {
  id: string;
  startedAt: string;
  lines: { at: string; text: string }[];
  exit: { code: number; reason: string } | undefined;
  onLine: Set<() => void>;
}

interface RunningContainer {
  spec: V1Container;
  isInit: boolean;
  child: ChildProcess | undefined;
  instances: Instance[];
  waiting: string;
  waitingMessage?: string;
  isReady: boolean;
  message: string;
  /** What its next end is to be taken for. */
  endsAs: string | undefined;
}

/** A kubelet looks for containers that ended once a second. */
const NOTICED_MS = 1_000;
const PROBE_MS = 20;
const BACK_OFF_MS = 300;

/** A pod whose containers are processes of this machine: volumes are folders, their paths stand where the commands name them. */
export class StandInPod {
  readonly name: string;
  readonly #spec: V1PodSpec;
  readonly #surroundings: PodSurroundings;
  readonly #containers: RunningContainer[];
  readonly #gone = new AbortController();
  #killTimer: NodeJS.Timeout | undefined;
  #killAtMs = Infinity;
  #isEnding = false;
  #isUnschedulable = false;
  #image: UnpackedImage | undefined;

  constructor(pod: StoredObject, surroundings: PodSurroundings) {
    this.name = pod.metadata.name;
    this.#spec = pod.spec as V1PodSpec;
    this.#surroundings = surroundings;
    const made = (isInit: boolean) => (spec: V1Container) => ({
      ...{ spec, isInit, child: undefined, instances: [], waiting: 'PodInitializing' },
      ...{ isReady: false, message: '', endsAs: undefined },
    });
    this.#containers = [
      ...(this.#spec.initContainers ?? []).map(made(true)),
      ...this.#spec.containers.map(made(false)),
    ];
  }

  async run(): Promise<void> {
    try {
      await this.#run();
    } catch (error) {
      if (!this.#gone.signal.aborted) throw error;
    }
  }

  /** Kills a container as the kernel or the kubelet would. */
  kill(container: string, reason: string): void {
    const killed = this.#containers.find(({ spec }) => spec.name === container)!;
    killed.endsAs = reason;
    signal(killed, 'SIGKILL');
  }

  /** Resolves when all its processes are gone. A shorter grace takes the place of a longer one. */
  end(graceSeconds: number): void {
    const killAtMs = performance.now() + graceSeconds * 1000;
    if (killAtMs < this.#killAtMs) {
      clearTimeout(this.#killTimer);
      this.#killAtMs = killAtMs;
      this.#killTimer = setTimeout(() => {
        for (const container of this.#containers) signal(container, 'SIGKILL');
      }, graceSeconds * 1000);
    }
    if (!this.#isEnding) void this.#end();
  }

  readLog(query: URLSearchParams, onLine: (line: string) => void, onEnd: () => void): (() => void) | string {
    const container = this.#containers.find(({ spec }) => spec.name === query.get('container'))!;
    const instance = container.instances.at(query.get('previous') === 'true' ? -2 : -1);
    if (!instance) return `container "${container.spec.name}" in pod "${this.name}" is waiting to start`;
    let told = 0;
    const since = query.get('sinceTime') ?? '';
    const tell = () => {
      for (; told < instance.lines.length; told += 1) {
        const { at, text } = instance.lines[told]!;
        if (at >= since) onLine(text);
      }
      if (instance.exit || query.get('follow') !== 'true') onEnd();
    };
    instance.onLine.add(tell);
    tell();
    return () => instance.onLine.delete(tell);
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
        Object.assign(this.#containers[0]!, { waiting: reason, waitingMessage: missing });
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
        await ended(container.child!);
        container.message = await readFile(this.#terminationLog(container), 'utf8').catch(() => '');
        this.#report();
        if (instance.exit?.code === 0) break;
        await this.#backOff(container);
      }
    }
    await Promise.all(this.#containers.filter(({ isInit }) => !isInit).map((container) => this.#keep(container)));
  }

  /** @returns why the image is not here */
  async #pull(): Promise<string | undefined> {
    const { store, folder, originOf } = this.#surroundings;
    const { image = '' } = this.#spec.containers[0]!;
    if (image.includes('missing')) return 'manifest unknown';
    const host = image.split('/', 1)[0]!;
    const origin = originOf(host);
    if (origin === undefined) return undefined;
    const secrets = (this.#spec.imagePullSecrets ?? []).map(({ name }) => store.find('secrets', name!)?.data);
    const logins = secrets.map((data) => JSON.parse(Buffer.from(data['.dockerconfigjson'], 'base64').toString()));
    const password = logins.map(({ auths }) => auths[host]?.password).find(Boolean) ?? 'none';
    try {
      this.#image = await unpackImage(image, origin, password, join(folder, this.name, 'image'));
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  async #keep(container: RunningContainer): Promise<void> {
    while (!this.#isEnding) {
      const instance = this.#start(container);
      this.#report();
      const exited = ended(container.child!);
      void this.#probe(container, instance);
      await exited;
      container.isReady = false;
      this.#report();
      // The first time it is started again as soon as it is noticed.
      if (container.instances.length === 1) await this.#pause(NOTICED_MS);
      else await this.#backOff(container);
    }
  }

  async #backOff(container: RunningContainer): Promise<void> {
    container.waiting = 'CrashLoopBackOff';
    this.#report();
    await this.#pause(BACK_OFF_MS);
  }

  async #probe(container: RunningContainer, instance: Instance): Promise<void> {
    const answers = async (probe: V1Container['startupProbe']) => {
      if (!probe?.httpGet) return true;
      const { path, port } = probe.httpGet;
      return fetch(`http://${this.#surroundings.address}:${port}${path}`).then(
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

  /** Waits for Secrets that are not there yet, as a kubelet does. */
  async #mount(): Promise<void> {
    for (const { name, secret } of this.#spec.volumes ?? []) {
      const at = this.#volume(name);
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
      const data = this.#surroundings.store.find('secrets', name)?.data as Record<string, string> | undefined;
      if (data)
        return Object.fromEntries(
          Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
        );
      await this.#pause(PROBE_MS);
    }
  }

  #start(container: RunningContainer): Instance {
    const { store, commands, address } = this.#surroundings;
    const { spec } = container;
    const secrets = (spec.envFrom ?? []).map((source) => store.find('secrets', source.secretRef!.name!)?.data ?? {});
    const variables = Object.entries<string>(Object.assign({}, ...secrets)).map(([name, value]) => [
      name,
      Buffer.from(value, 'base64').toString(),
    ]);
    const image = {
      PATH: `${spec.image!.includes('foreign') ? '' : `${commands}:`}${process.env.PATH}`,
      ...(spec.image!.includes('with-auth') && { LANGGRAPH_AUTH: '{"path":"./auth.ts:auth"}' }),
      ...this.#imageVariables(),
    };
    // Every pod has an address of its own here, but no network: where it listens is that address.
    const own = spec.ports ? { HOST: address } : {};
    const [command, ...args] = spec.command!.map((word) => this.#withPlaces(word, container));
    // It ends with the test, however that ends.
    const child = spawn('setpriv', ['--pdeathsig=KILL', command!, ...args], {
      env: { ...image, ...Object.fromEntries(variables), ...own },
      cwd: this.#image?.workingDir,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const instance: Instance = {
      id: `containerd://${this.name}-${spec.name}-${container.instances.length}`,
      startedAt: new Date().toISOString(),
      lines: [],
      exit: undefined,
      onLine: new Set(),
    };
    container.child = child;
    container.instances.push(instance);
    const changed = () => {
      for (const listener of [...instance.onLine]) listener();
    };
    for (const output of [child.stdout!, child.stderr!]) {
      output.setEncoding('utf8').on('data', (text: string) => {
        const at = new Date().toISOString();
        instance.lines.push(
          ...text
            .split('\n')
            .filter(Boolean)
            .map((line) => ({ at, text: line })),
        );
        changed();
      });
    }
    // With its first process everything in a container ends.
    child.once('exit', () => signal(container, 'SIGKILL'));
    child.once('close', (code) => {
      instance.exit = { code: code ?? 137, reason: container.endsAs ?? (code === 0 ? 'Completed' : 'Error') };
      container.endsAs = undefined;
      changed();
    });
    return instance;
  }

  /** A path of the image is one of this machine here. Its programs are those of this machine. */
  #imageVariables(): Record<string, string> {
    const { root, env } = this.#image ?? { root: '', env: {} };
    const { PATH: _, ...others } = env as Record<string, string>;
    const entries = Object.entries(others).map(([name, value]) => [name, value.startsWith('/') ? root + value : value]);
    return Object.fromEntries(entries);
  }

  #withPlaces(word: string, container: RunningContainer): string {
    const mounts = container.spec.volumeMounts ?? [];
    const places = mounts.map(({ name, mountPath }) => [mountPath, this.#volume(name)] as const);
    return [...places, ['/dev/termination-log', this.#terminationLog(container)] as const].reduce(
      (text, [path, place]) => text.replaceAll(path, place),
      word,
    );
  }

  async #end(): Promise<void> {
    this.#isEnding = true;
    const running = this.#containers.filter(
      ({ child }) => child && child.exitCode === null && child.signalCode === null,
    );
    await Promise.all(
      running.map(async (container) => {
        const { child, spec } = container;
        const gone = ended(child!);
        const hook = spec.lifecycle?.preStop?.exec?.command;
        if (hook) await Promise.race([gone, ended(spawn(hook[0]!, hook.slice(1), { stdio: 'ignore' }))]);
        signal(container, 'SIGTERM', true);
        await gone;
      }),
    );
    clearTimeout(this.#killTimer);
    this.#gone.abort();
    await rm(join(this.#surroundings.folder, this.name), { recursive: true, force: true });
    this.#surroundings.store.remove('pods', this.name);
  }

  #report(): void {
    const { store, address } = this.#surroundings;
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
        phase: this.#containers.some(({ isInit, instances }) => !isInit && instances.length > 0)
          ? 'Running'
          : 'Pending',
        ...(this.#isUnschedulable ? {} : { podIP: address }),
        conditions: [condition('PodScheduled', !this.#isUnschedulable, unschedulable), condition('Ready', isReady)],
        initContainerStatuses: this.#containers.filter(({ isInit }) => isInit).map(statusOf),
        containerStatuses: this.#containers.filter(({ isInit }) => !isInit).map(statusOf),
      },
    });
  }

  #terminationLog({ spec }: RunningContainer): string {
    return join(this.#surroundings.folder, this.name, `${spec.name}.message`);
  }

  #volume(name: string): string {
    return join(this.#surroundings.folder, this.name, name);
  }

  #pause(ms: number): Promise<void> {
    return pause(ms, undefined, { signal: this.#gone.signal });
  }
}

function statusOf(container: RunningContainer): object {
  const { spec, instances, waiting, waitingMessage, isReady, message } = container;
  const current = instances.at(-1);
  const terminated = (instance: Instance | undefined) =>
    instance?.exit && {
      terminated: {
        exitCode: instance.exit.code,
        reason: instance.exit.reason,
        startedAt: instance.startedAt,
        finishedAt: instance.lines.at(-1)?.at ?? instance.startedAt,
        containerID: instance.id,
        ...(message && { message }),
      },
    };
  const isBackingOff = waiting === 'CrashLoopBackOff' && current?.exit;
  const state = isBackingOff
    ? { waiting: { reason: waiting, message: 'back-off restarting failed container' } }
    : (terminated(current) ??
      (current
        ? { running: { startedAt: current.startedAt } }
        : { waiting: { reason: waiting, message: waitingMessage } }));
  return {
    name: spec.name,
    image: spec.image,
    imageID: spec.image,
    ready: isReady,
    restartCount: Math.max(instances.length - 1, 0),
    containerID: current?.id,
    state,
    lastState: (isBackingOff ? terminated(current) : terminated(instances.at(-2))) ?? {},
  };
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once('close', () => resolve()));
}

/** To the first process alone, or to all that it started. */
function signal({ child }: RunningContainer, name: NodeJS.Signals, isForFirst = false): void {
  if (child?.pid === undefined) return;
  try {
    process.kill(isForFirst ? child.pid : -child.pid, name);
  } catch {
    // It has just ended.
  }
}
