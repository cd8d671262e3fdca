import { relative } from 'node:path';
import type { LogLevel } from '@runyard/contracts';
import type { RevisionLog } from '@runyard/revision-logs';
import { runBuildCommand } from './build-command.ts';
import { type BuildFolders, withPath } from './build-environment.ts';
import type { BuildUser } from './build-users.ts';
import type { KernelLimits } from './kernel-limits.ts';

export interface BuildCommandsOptions {
  /** The folder of the source. */
  root: string;
  folders: BuildFolders;
  /** The environment of all commands, without the tools that are fetched. */
  environment: Record<string, string>;
  user: BuildUser | null;
  log: Pick<RevisionLog, 'write'>;
  signal: AbortSignal;
  limits: KernelLimits | null;
  onSpawn?: (pid: number) => void;
}

/** Lines of an answer beyond this are dropped: it is for this service, and a project may print any number. */
const ANSWER_LINES_MAX = 2_000;

/** Runs the commands of one build, as its user, with the tools that were fetched for it. */
export class BuildCommands {
  readonly #options: BuildCommandsOptions;
  #tools: string[] = [];
  #environment: Record<string, string>;

  constructor(options: BuildCommandsOptions) {
    this.#options = options;
    this.#environment = options.environment;
  }

  /** Adds a folder with programs, which are found before those that were added before. */
  useTool(programs: string): void {
    this.#tools = [programs, ...this.#tools];
  }

  /** Sets variables of the commands that follow. */
  set(variables: Record<string, string>): void {
    this.#environment = { ...this.#environment, ...variables };
  }

  /**
   * Runs a command that the log shows, with its output.
   *
   * @throws BuildError when it fails
   */
  async run(command: string, cwd: string): Promise<void> {
    const where = relative(this.#options.root, cwd);
    this.say(where === '' || where.startsWith('..') ? `$ ${command}` : `$ ${command}  (in ${where})`);
    // Package managers write their progress to stderr, so lines from there are no errors.
    await this.#run(command, cwd, (line) => this.say(line));
  }

  /**
   * Fetches a tool into a folder of this service, which belongs to the user of the build only meanwhile.
   *
   * @throws BuildError when the command fails
   */
  async fetch(command: string, folder: string): Promise<void> {
    const { user } = this.#options;
    await user?.give(folder);
    try {
      await this.run(command, folder);
    } finally {
      await user?.takeBack(folder);
    }
  }

  /** Returns the lines that a command prints. The log shows neither. @throws BuildError when it fails */
  async ask(command: string, cwd: string): Promise<string[]> {
    const lines: string[] = [];
    await this.#run(command, cwd, (line, stream) => {
      if (stream === 'stdout' && lines.length < ANSWER_LINES_MAX) lines.push(line);
    });
    return lines;
  }

  say(line: string, level: LogLevel = 'INFO'): void {
    this.#options.log.write(line, { level, source: 'build' });
  }

  async #run(command: string, cwd: string, onLine: (line: string, stream: 'stdout' | 'stderr') => void): Promise<void> {
    const { user, signal, limits, onSpawn } = this.#options;
    await runBuildCommand({
      command,
      cwd,
      env: withPath(this.#environment, this.#tools),
      user,
      signal,
      limits,
      ...(onSpawn && { onSpawn }),
      onLine: (line, stream) => onLine(this.#shorten(line), stream),
    });
  }

  /** The project's author does not know the folders of the build. */
  #shorten(line: string): string {
    const { root, folders } = this.#options;
    return line.replaceAll(root, '.').replaceAll(folders.home, '~').replaceAll(folders.cache, '~/.cache');
  }
}
