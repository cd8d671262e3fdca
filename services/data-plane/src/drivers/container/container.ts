import { type ChildProcess, spawn } from 'node:child_process';
import { eachLine } from '@runyard/revision-logs';
import type { ChildExit, ChildWork, Launched } from '../process/child.ts';
import { engineEnvironment, QUICK_MS, runEngine } from './engine-command.ts';

export interface ContainerOptions {
  command: string;
  name: string;
  /** All arguments of the engine's command, including `run`. */
  args: readonly string[];
  /** Values of the variables that `args` names: every user of the machine can read arguments. */
  env: Record<string, string>;
  /** Written to the container's standard input as one line of JSON. Standard input then stays open. */
  secrets: Record<string, string>;
  onLine: ChildWork['onLine'];
}

/**
 * One container, attached to the engine's `run` command, which lives as long as the container and has its exit code.
 * The container gets its secrets over standard input and stops when that closes. So it also stops when this process
 * ends, in whatever way.
 */
export class Container implements Launched {
  readonly #options: ContainerOptions;
  readonly #run: ChildProcess;
  readonly exited: Promise<ChildExit>;
  #exit: ChildExit | undefined;
  /** Settles when the engine has removed the container; undefined until removal begins. */
  #removed: Promise<void> | undefined;

  constructor(options: ContainerOptions) {
    this.#options = options;
    const { command, args, env, secrets, onLine } = options;
    const run = spawn(command, args, {
      env: { ...engineEnvironment(process.env), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      // A Ctrl-C at a terminal must only reach this process, which then stops its containers in order.
      detached: true,
    });
    this.#run = run;
    this.exited = new Promise((resolve) => {
      const settle = (exit: ChildExit) => {
        this.#exit ??= exit;
        resolve(this.#exit);
      };
      run.once('error', (error) => settle({ code: null, signal: null, error }));
      run.once('exit', (code, signal) => {
        // A command that was killed leaves its container, perhaps running.
        const removed = signal === null ? this.#removed : this.#remove();
        void Promise.resolve(removed).then(() => settle({ code, signal }));
      });
    });
    eachLine(run.stdout, (line) => onLine(line, 'stdout'));
    eachLine(run.stderr, (line) => onLine(line, 'stderr'));
    run.stdin.on('error', () => undefined); // The exit of the command says why.
    run.stdin.write(`${JSON.stringify(secrets)}\n`);
  }

  get exit(): ChildExit | undefined {
    return this.#exit;
  }

  async stop(graceMs: number): Promise<ChildExit> {
    if (this.#exit) return this.#exit;
    // The engine's command passes the signal on to the container.
    this.#run.kill('SIGTERM');
    const force = setTimeout(() => this.kill(), graceMs);
    return this.exited.finally(() => clearTimeout(force));
  }

  /** Removes the container through the engine, because killing only its command would leave the container. */
  kill(): void {
    void this.#remove().then(() => this.#run.kill('SIGKILL'));
  }

  /** A failed removal is ignored: the next start of the deployment removes the container. */
  #remove(): Promise<void> {
    const { command, name } = this.#options;
    const signal = AbortSignal.timeout(QUICK_MS);
    this.#removed ??= runEngine(command, ['rm', '--force', name], { signal }).then(
      () => undefined,
      () => undefined,
    );
    return this.#removed;
  }
}
