import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import type { CommandContext } from '../../src/command-context.ts';
import { run } from '../../src/run.ts';

export interface CommandResult {
  exitCode: number;
  out: string;
  err: string;
  /** Parses the lines of the output as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every kind.
  events(): any[];
}

class CapturedOutput extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString('utf8');
    done();
  }
}

/** Runs the command in this process, without this machine's environment. */
export async function runyard(args: string[], options: Partial<CommandContext> = {}): Promise<CommandResult> {
  const [stdout, stderr] = [new CapturedOutput(), new CapturedOutput()];
  const exitCode = await run(
    args,
    {
      cwd: tmpdir(),
      env: {},
      stdin: new PassThrough(),
      stdout,
      stderr,
      pollMs: 10,
      interrupted: new AbortController().signal,
      ...options,
    },
    '0.0.0',
  );
  const events = () =>
    stdout.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  return { exitCode, out: stdout.text, err: stderr.text, events };
}

const made: string[] = [];
export function removeFolders(): void {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** Makes a new folder `name` with these files. */
export function folderWith(name: string, files: Record<string, string>): string {
  const parent = mkdtempSync(join(tmpdir(), 'runyard-cli-'));
  made.push(parent);
  const folder = join(parent, name);
  mkdirSync(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** Returns the paths of the files in a folder, relative to it. */
export function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

export const LANGGRAPH_JSON = JSON.stringify({ graphs: { agent: './src/agent.ts:graph' }, env: '.env' });

export function projectFolder(name: string, files: Record<string, string> = {}): string {
  return folderWith(name, {
    'langgraph.json': LANGGRAPH_JSON,
    'package.json': '{}',
    'src/agent.ts': 'export const graph = 1;\n',
    ...files,
  });
}
