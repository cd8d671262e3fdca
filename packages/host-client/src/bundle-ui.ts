import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { withDeadline } from '@runyard/deadline';
import {
  type BundleAnswer,
  type BundleRequest,
  GraphLoadError,
  type HostLog,
  readLines,
  type UiFile,
} from '@runyard/host-protocol';
import type { ProjectUi } from '@runyard/project';
import type { HostUser } from './host-user.ts';

export type { UiFile } from '@runyard/host-protocol';

export interface BundleUiOptions {
  ui: ProjectUi;
  /** The project's folder. */
  directory: string;
  /** The whole environment of the project's code. */
  environment: Record<string, string>;
  /** The user that the bundler runs as; default: this process's user. */
  user?: HostUser | undefined;
  /** Receives what the bundler prints, for example warnings. */
  onLog(line: HostLog): void;
  /** Aborts the work. */
  signal: AbortSignal;
  timeoutMs?: number;
}

const TIMEOUT_MS = 60_000;

/**
 * Bundles the components of a project for browsers, in a process of its own. Components that cannot be bundled are left
 * out, with a warning that says why.
 *
 * @returns the files by agent
 * @throws GraphLoadError when the process gives no answer
 */
export function bundleUi({
  signal: outer,
  timeoutMs = TIMEOUT_MS,
  ...bundling
}: BundleUiOptions): Promise<Map<string, UiFile[]>> {
  return withDeadline(outer, timeoutMs, (signal) => runBundler({ ...bundling, timeoutMs, signal }));
}

async function runBundler({
  ui,
  directory,
  environment,
  user,
  onLog,
  signal,
  timeoutMs,
}: BundleUiOptions & { timeoutMs: number }): Promise<Map<string, UiFile[]>> {
  const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  const child = spawn(
    process.execPath,
    ['--experimental-import-meta-resolve', '--disable-warning=ExperimentalWarning', '--import', loader, childEntry()],
    { cwd: directory, env: environment, stdio: ['ignore', 'pipe', 'pipe', 'ipc'], serialization: 'advanced', ...user },
  );
  const stop = () => child.kill('SIGKILL');
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  readLines(child.stdout as Readable, (message) => onLog({ level: 'info', message }));
  readLines(child.stderr as Readable, (message) => onLog({ level: 'warn', message }));
  try {
    const request: BundleRequest = { directory, files: ui.files, shared: ui.shared };
    // A missing answer is reported below.
    child.send(request, () => {});
    const ended = once(child, 'exit').then(([code, by]) => describeMissingAnswer(signal, timeoutMs, by ?? code));
    const answered = once(child, 'message').then(([answer]) => answer as BundleAnswer);
    const answer = await Promise.race([answered, ended]);
    if (typeof answer === 'string') throw new GraphLoadError(answer);
    for (const message of answer.faults) onLog({ level: 'warn', message });
    return new Map(answer.bundles);
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}

function describeMissingAnswer(signal: AbortSignal, timeoutMs: number, end: string | number): string {
  if (signal.aborted && signal.reason?.name === 'TimeoutError') {
    return `The components of "ui" were not bundled within ${timeoutMs} ms.`;
  }
  return `The process that bundles the components of "ui" ended (${end}).`;
}

/** Returns the entry, next to the service's bundle or, when nothing is bundled, in the source folder. */
function childEntry(): string {
  const isSource = import.meta.url.endsWith('.ts');
  return fileURLToPath(
    new URL(isSource ? '../../../hosts/javascript/src/ui-bundler/main.ts' : './graph-host-ui.js', import.meta.url),
  );
}
