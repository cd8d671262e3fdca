import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { Duplex, Readable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { deserialize } from 'node:v8';
import { withDeadline } from '@runyard/deadline';
import {
  BUNDLER_FD,
  type BundleAnswer,
  type BundleRequest,
  GraphLoadError,
  type HostLog,
  readLines,
  UI_BYTES_MAX,
  type UiFile,
} from '@runyard/host-protocol';
import type { ProjectUi } from '@runyard/project';
import { ChildOutput, LOG_BYTES_PER_SECOND } from './child-output.ts';
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
/** The files, with their names and with what is said of the others. */
const ANSWER_BYTES_MAX = UI_BYTES_MAX + 1024 * 1024;

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
    { cwd: directory, env: environment, stdio: ['ignore', 'pipe', 'pipe', 'pipe'], ...user },
  );
  const stop = () => child.kill('SIGKILL');
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  const output = new ChildOutput({}, LOG_BYTES_PER_SECOND, onLog);
  readLines(child.stdout as Readable, (message) => output.add('info', message));
  readLines(child.stderr as Readable, (message) => output.add('warn', message));
  try {
    const request: BundleRequest = { directory, files: ui.files, shared: ui.shared };
    const socket = child.stdio[BUNDLER_FD] as Duplex;
    socket.write(`${JSON.stringify(request)}\n`);
    const ended = once(child, 'exit').then(([code, by]) => describeMissingAnswer(signal, timeoutMs, by ?? code));
    ended.catch(() => undefined); // Its answer, if there is one, may be read after that.
    const answer = (await readAnswer(socket)) ?? (await ended);
    if (typeof answer === 'string') throw new GraphLoadError(answer);
    for (const message of answer.faults) onLog({ level: 'warn', message });
    return new Map(answer.bundles);
  } finally {
    signal.removeEventListener('abort', stop);
    output.close();
    stop();
  }
}

/** Returns undefined where there is none; a sentence for one that is no answer. */
async function readAnswer(socket: Duplex): Promise<BundleAnswer | string | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of socket as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > ANSWER_BYTES_MAX) return 'The process that bundles the components of "ui" answered too much.';
      pieces.push(piece);
    }
    return bytes > 0 ? (deserialize(Buffer.concat(pieces)) as BundleAnswer) : undefined;
  } catch {
    return undefined;
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
