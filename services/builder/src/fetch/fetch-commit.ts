import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { OrderedSource } from '@runyard/contracts';
import { BuildError } from '@runyard/deployments';
import { secretMask } from '@runyard/revision-logs';
import { withKernelLimits } from '../commands/kernel-limits.ts';

/** The address that git fetches from, with the protocol that it may use. */
type RepositoryAddress = Pick<Extract<OrderedSource, { kind: 'repository' }>, 'url' | 'protocol' | 'resolved'>;

export interface CommitRequest {
  repository: RepositoryAddress;
  /** `refs/heads/main`, `refs/tags/v1`, `HEAD`, or the hash of a commit. */
  ref: string;
  /** Sent only to the repository's host. */
  token: string | null;
  /** An empty folder for the commit's files. */
  folder: string;
  /** A folder for git's own files, which are removed at the end. */
  temporaryFolder: string;
  /** Bytes of memory of one process of git. Default: 1 GiB. */
  memoryBytes?: number;
  signal: AbortSignal;
}

const BYTES_MAX = 1024 ** 3;
const MEMORY_BYTES = 1024 ** 3;
const FILES_MAX = 100_000;
/** Enough to list `FILES_MAX` files. A commit may nest few folders in a way that unfolds to an endless listing. */
const OUTPUT_BYTES_MAX = 64 * 1024 ** 2;
/** Characters of git's error output that are kept, from its end. */
const STDERR_LENGTH_MAX = 64 * 1024;

/**
 * Fetches one commit without its history and checks its files out, without submodules and symbolic links.
 *
 * @returns the hash of the commit
 * @throws BuildError with git's own message
 */
export async function fetchCommit(request: CommitRequest): Promise<string> {
  const { temporaryFolder, repository, ref, folder } = request;
  await mkdir(temporaryFolder, { recursive: true, mode: 0o700 });
  const home = await mkdtemp(join(temporaryFolder, 'git-'));
  try {
    const git = await openGit(home, request);
    await git('init', '--quiet', '--bare', join(home, 'repository'));
    const options = ['--depth=1', '--no-tags', '--no-recurse-submodules', '--no-write-commit-graph', '--quiet'];
    await git('fetch', ...options, '--', repository.url, ref);
    const sha = (await git('rev-parse', '--verify', 'FETCH_HEAD^{commit}')).trim();
    // The files are counted first: finding the sizes of that many files is then quick.
    checkCount(await git('ls-tree', '-r', '--name-only', '-z', sha));
    checkSize(await git('ls-tree', '-r', '-l', '-z', sha));
    await writeFile(join(home, 'repository/info/attributes'), STORED_BYTES);
    await git(`--work-tree=${folder}`, 'checkout', '--force', '--quiet', sha, '--', '.');
    return sha;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** Files are as large as they were counted, whatever attributes the commit gives them: these win. */
const STORED_BYTES = '* -ident !working-tree-encoding\n';

type Git = (...args: string[]) => Promise<string>;

/**
 * Prepares git without the configuration of this machine and user. It never prompts, and executes nothing of the
 * repository.
 */
async function openGit(
  home: string,
  { repository, token, memoryBytes: addressBytes = MEMORY_BYTES, signal }: CommitRequest,
): Promise<Git> {
  await writeFile(join(home, 'config'), configuration(repository, token), { mode: 0o600 });
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    LANG: 'C',
    GIT_DIR: join(home, 'repository'),
    GIT_CONFIG_GLOBAL: join(home, 'config'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ALLOW_PROTOCOL: repository.protocol,
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    GIT_LFS_SKIP_SMUDGE: '1',
  };
  return async (...args) => {
    // A few bytes of a pack unfold to any number, in a file or in memory.
    const limits = { fileBytes: BYTES_MAX, processes: null, addressBytes };
    const [program, ...words] = withKernelLimits(limits, ['git', ...args]);
    const child = spawn(program, words, {
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const end = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // The process group has already ended.
      }
    };
    signal.addEventListener('abort', end, { once: true });
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    const said = [readWhole(child.stdout, OUTPUT_BYTES_MAX, end), readEnd(child.stderr, STDERR_LENGTH_MAX)] as const;
    const [code, stdout, stderr] = await Promise.all([ended, ...said]).finally(() => {
      signal.removeEventListener('abort', end);
    });
    signal.throwIfAborted();
    if (stdout === null) throw tooManyFiles();
    if (code === 0) return stdout;
    if (code === 127) throw new BuildError('git is not installed on this machine');
    const command = args.find((arg) => !arg.startsWith('-'));
    if (OUT_OF_MEMORY.test(stderr))
      throw new BuildError(`git ${command}: the commit takes more than ${addressBytes} bytes of memory`);
    if (LOGIN_FAILURE.test(stderr)) throw makeLoginFailure(repository, token);
    // A server may repeat the token in its message.
    const reason = secretMask(token === null ? [] : [token, basicOf(token)])(reasonOf(stderr));
    throw new BuildError(`git ${command}: ${reason}`);
  };
}

/** Matches messages of git's, and of the system for it. */
const OUT_OF_MEMORY = /out of memory|cannot allocate memory/i;

/** Matches git's messages for missing or refused credentials. */
const LOGIN_FAILURE = /^fatal: (could not read (Username|Password) for|Authentication failed)/m;

function makeLoginFailure({ url }: RepositoryAddress, token: string | null): BuildError {
  return new BuildError(
    token === null
      ? `${url} cannot be read without a token; name an integration that has one for its server`
      : `The server of ${url} does not take the token of the integration`,
  );
}

/** Returns null, and calls `onMore`, when the output is longer than `bytesMax`. */
async function readWhole(output: Readable, bytesMax: number, onMore: () => void): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of output as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) {
      onMore();
      return null;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function readEnd(output: Readable, length: number): Promise<string> {
  let end = '';
  for await (const text of output.setEncoding('utf8') as AsyncIterable<string>) end = (end + text).slice(-length);
  return end;
}

function configuration({ url, protocol, resolved }: RepositoryAddress, token: string | null): string {
  const lines = [
    '[core]',
    'symlinks = false',
    'hooksPath = /dev/null',
    '[credential]',
    'helper =',
    '[protocol]',
    'version = 2',
    '[safe]',
    'directory = *',
    '[gc]',
    'auto = 0',
    // Larger files pass through, and packs are looked at in parts, so that the memory suffices for every commit.
    '[core]',
    'bigFileThreshold = 16m',
    'packedGitWindowSize = 32m',
    'packedGitLimit = 256m',
    '[pack]',
    'threads = 1',
    '[http]',
    'followRedirects = false',
  ];
  if (protocol === 'file' || resolved === null) return lines.join('\n');
  lines.push(`curloptResolve = ${quoted(resolved)}`);
  if (token !== null) {
    const header = `Authorization: Basic ${basicOf(token)}`;
    lines.push(`[http ${quoted(new URL(url).origin)}]`, `extraHeader = ${quoted(header)}`);
  }
  return lines.join('\n');
}

const basicOf = (token: string) => Buffer.from(`x-access-token:${token}`).toString('base64');

const quoted = (value: string) => `"${value.replace(/["\\]/g, '\\$&')}"`;

/** Returns git's last message that is not a hint. */
function reasonOf(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.trim());
  const told = lines.findLast((line) => /^(fatal|error|remote):/.test(line)) ?? lines.filter(Boolean).at(-1);
  return told ?? 'it ended without a word';
}

function checkCount(names: string): void {
  if (names.split('\0').length - 1 > FILES_MAX) throw tooManyFiles();
}

function tooManyFiles(): BuildError {
  return new BuildError(`The commit holds more than ${FILES_MAX} files`);
}

function checkSize(listing: string): void {
  let bytes = 0;
  for (const entry of listing.split('\0')) bytes += Number(/^\S+ \S+ \S+ +(\d+|-)\t/.exec(entry)?.[1]) || 0;
  if (bytes > BYTES_MAX) throw new BuildError(`The commit is larger than ${BYTES_MAX} bytes`);
}
