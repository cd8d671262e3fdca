import { type ChildProcess, spawn } from 'node:child_process';
import type { V1Container } from '@kubernetes/client-node';

/** One start of a container. */
export interface Instance {
  id: string;
  startedAt: string;
  lines: { at: string; text: string }[];
  exit: { code: number; reason: string } | undefined;
  onLine: Set<() => void>;
}

export interface ContainerProcess {
  command: string[];
  env: Record<string, string>;
  cwd: string | undefined;
}

/**
 * A container of a pod: its processes on this machine, one after the other, their output, and their status as a kubelet
 * reports it.
 */
export class FakeContainer {
  readonly spec: V1Container;
  readonly isInit: boolean;
  isReady = false;
  /** Why it does not run, while it does not. */
  waiting: { reason: string; message?: string } = { reason: 'PodInitializing' };
  /** Its termination message. */
  message = '';
  readonly #podName: string;
  readonly #instances: Instance[] = [];
  #child: ChildProcess | undefined;
  /** The reason that its next end is reported with. */
  #endsAs: string | undefined;

  constructor(podName: string, spec: V1Container, isInit: boolean) {
    this.#podName = podName;
    this.spec = spec;
    this.isInit = isInit;
  }

  get starts(): number {
    return this.#instances.length;
  }

  start({ command: [program, ...args], env, cwd }: ContainerProcess): Instance {
    // The process ends with the test, in whatever way.
    const child = spawn('setpriv', ['--pdeathsig=KILL', program!, ...args], {
      env,
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const instance: Instance = {
      id: `containerd://${this.#podName}-${this.spec.name}-${this.#instances.length}`,
      startedAt: new Date().toISOString(),
      lines: [],
      exit: undefined,
      onLine: new Set(),
    };
    this.#child = child;
    this.#instances.push(instance);
    const changed = () => {
      for (const listener of [...instance.onLine]) listener();
    };
    for (const output of [child.stdout!, child.stderr!]) {
      output.setEncoding('utf8').on('data', (text: string) => {
        const at = new Date().toISOString();
        const lines = text.split('\n').filter(Boolean);
        instance.lines.push(...lines.map((line) => ({ at, text: line })));
        changed();
      });
    }
    // When the first process of a container ends, all its processes do.
    child.once('exit', () => this.#signal('SIGKILL'));
    child.once('close', (code) => {
      instance.exit = { code: code ?? 137, reason: this.#endsAs ?? (code === 0 ? 'Completed' : 'Error') };
      this.#endsAs = undefined;
      changed();
    });
    return instance;
  }

  /** Resolves when the newest process has ended. */
  ended(): Promise<void> {
    return ended(this.#child!);
  }

  /** Stops like a kubelet: runs the hook, then signals the first process. Resolves when it has ended. */
  async stop(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = ended(child);
    const hook = this.spec.lifecycle?.preStop?.exec?.command;
    if (hook) await Promise.race([gone, ended(spawn(hook[0]!, hook.slice(1), { stdio: 'ignore' }))]);
    this.#signal('SIGTERM', true);
    await gone;
  }

  /** @param reason that is reported for the end; by default its exit code decides */
  kill(reason?: string): void {
    if (reason !== undefined) this.#endsAs = reason;
    this.#signal('SIGKILL');
  }

  /** @returns a function that stops reading, or the reason why there is no log */
  readLog(query: URLSearchParams, onLine: (line: string) => void, onEnd: () => void): (() => void) | string {
    const instance = this.#instances.at(query.get('previous') === 'true' ? -2 : -1);
    if (!instance) return `container "${this.spec.name}" in pod "${this.#podName}" is waiting to start`;
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

  get status(): object {
    const current = this.#instances.at(-1);
    const isBackingOff = this.waiting.reason === 'CrashLoopBackOff' && current?.exit;
    const state = isBackingOff
      ? { waiting: { reason: this.waiting.reason, message: 'back-off restarting failed container' } }
      : (this.#terminated(current) ??
        (current ? { running: { startedAt: current.startedAt } } : { waiting: this.waiting }));
    return {
      name: this.spec.name,
      image: this.spec.image,
      imageID: this.spec.image,
      ready: this.isReady,
      restartCount: Math.max(this.#instances.length - 1, 0),
      containerID: current?.id,
      state,
      lastState: this.#terminated(isBackingOff ? current : this.#instances.at(-2)) ?? {},
    };
  }

  #terminated(instance: Instance | undefined): object | undefined {
    return (
      instance?.exit && {
        terminated: {
          exitCode: instance.exit.code,
          reason: instance.exit.reason,
          startedAt: instance.startedAt,
          finishedAt: instance.lines.at(-1)?.at ?? instance.startedAt,
          containerID: instance.id,
          ...(this.message && { message: this.message }),
        },
      }
    );
  }

  /** Signals the first process alone, or all processes. */
  #signal(name: NodeJS.Signals, isForFirst = false): void {
    if (this.#child?.pid === undefined) return;
    try {
      process.kill(isForFirst ? this.#child.pid : -this.#child.pid, name);
    } catch {
      // It has just ended.
    }
  }
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once('close', () => resolve()));
}
