import { type ChildProcess, spawn } from 'node:child_process';
import { type ChildExit, type ChildOptions, eachLine, type Launched } from '../process/child.ts';
import { engineEnvironment, QUICK_MS, runEngine } from './engine-command.ts';

export interface ContainerOptions {
  command: string;
  name: string;
  /** All of `run`, without the command itself. */
  args: readonly string[];
  /** Named in `args`, given here: arguments can be read by everybody on the machine. */
  env: Record<string, string>;
  /** Written to the container's standard input as one line of JSON, which then stays open. */
  secrets: Record<string, string>;
  onLine: ChildOptions['onLine'];
}

/**
 * One container, attached to the engine's `run` command, which lives as long as the container and ends with its code. The
 * container gets its secrets over its standard input and ends when that closes: when this process ends, however that happens,
 * so does the command, and with it the container.
 */
export class Container implements Launched {
  readonly #options: ContainerOptions;
  readonly #run: ChildProcess;
  readonly exited: Promise<ChildExit>;
  #exit: ChildExit | undefined;
  /** The engine's answer, once it was told to remove the container. */
  #removed: Promise<void> | undefined;

  constructor(options: ContainerOptions) {
    this.#options = options;
    const { command, args, env, secrets, onLine } = options;
    const run = spawn(command, args, {
      env: { ...engineEnvironment(process.env), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      // A Ctrl-C at a terminal is for this process, which then ends its containers in order.
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
        // A command that was killed does not say what became of its container.
        const removed = signal === null ? this.#removed : this.#remove();
        void Promise.resolve(removed).then(() => settle({ code, signal }));
      });
    });
    eachLine(run.stdout, (line) => onLine(line, 'stdout'));
    eachLine(run.stderr, (line) => onLine(line, 'stderr'));
    run.stdin.on('error', () => undefined); // Its exit tells why.
    run.stdin.write(`${JSON.stringify(secrets)}\n`);
  }

  get exit(): ChildExit | undefined {
    return this.#exit;
  }

  async stop(graceMs: number): Promise<ChildExit> {
    if (this.#exit) return this.#exit;
    // Passed on to the container.
    this.#run.kill('SIGTERM');
    const force = setTimeout(() => this.kill(), graceMs);
    return this.exited.finally(() => clearTimeout(force));
  }

  /** The engine is told: killing its command would leave the container. */
  kill(): void {
    void this.#remove().then(() => this.#run.kill('SIGKILL'));
  }

  /** What cannot be removed now is a leftover for the next start of its deployment. */
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
