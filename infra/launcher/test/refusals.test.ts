import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundledEntry } from '@runyard/test-kit';
import { afterAll, describe, expect, it } from 'vitest';

const work = mkdtempSync(join(tmpdir(), 'runyard-launcher-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));

function projectFolder(name: string, config: string | null, files: Record<string, string> = {}): string {
  const folder = join(work, name);
  mkdirSync(folder);
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content);
  if (config !== null) writeFileSync(join(folder, 'langgraph.json'), config);
  return folder;
}

/** Runs the launcher, in a folder of its own. */
async function launcher(...flags: string[]): Promise<{ code: number | null; errors: string; wrote: string[] }> {
  const dataDir = join(work, `data-${Math.random()}`);
  const entry = await bundledEntry(join(import.meta.dirname, '../src/main.ts'));
  const child = spawn(process.execPath, [entry, ...flags, '--data-dir', dataDir], {
    cwd: work,
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (errors += text));
  const [code] = await once(child, 'close');
  return { code, errors: errors.trim(), wrote: readdirSync(work).includes(dataDir) ? readdirSync(dataDir) : [] };
}

describe('an obstacle is one sentence that says what to do, and nothing is started:', () => {
  const config = '{"graphs": {"agent": "./agent.ts:graph"}}';
  const good = projectFolder('good', config, { 'agent.ts': '' });

  it.each([
    ['no such folder', join(work, 'none'), /^There is no folder .*none: name your project's folder with --project\.$/],
    [
      'no langgraph.json',
      projectFolder('empty', null),
      /^.*empty has no langgraph.json: name the folder of a LangGraph project with --project\.$/,
    ],
    ['broken langgraph.json', projectFolder('broken', '{'), /^.*broken\/langgraph.json is not valid JSON: /],
    [
      'no graphs',
      projectFolder('graphless', '{}'),
      /^.*graphless\/langgraph.json must be an object with a "graphs" key that names at least one graph/,
    ],
    [
      'two missing files',
      projectFolder('absent', '{"graphs": {"one": "./one.ts:graph", "two": "./two.ts:graph"}}'),
      /^.*absent cannot be started:\nlanggraph.json: "graphs.one" names one.ts, which does not exist\.\n.*"graphs.two" names two.ts, which does not/,
    ],
    [
      'graphs in two languages',
      projectFolder('mixed', '{"graphs": {"one": "./one.ts:graph", "two": "./two.py:graph"}}'),
      /^langgraph.json names Python and JavaScript graphs; deploy them as two deployments\.$/,
    ],
    [
      'an invalid section',
      projectFolder('invalid', '{"graphs": {"one": "./one.ts"}, "http": {"cors": {"max_age": "long"}}}'),
      /^.*invalid\/langgraph.json has a fault: .*max_age/,
    ],
    [
      'a LangGraph that is too old, by the lock file that installs it',
      projectFolder('outdated', config, {
        'agent.ts': '',
        'package.json': '{"dependencies": {"@langchain/langgraph": "^0.2.40"}}',
        'package-lock.json': '{"packages": {"node_modules/@langchain/langgraph": {"version": "0.2.41"}}}',
      }),
      /^.*outdated cannot be started:\nThe project has @langchain\/langgraph 0\.2\.41; .* run `npm update @langchain\/langgraph`/,
    ],
  ])('%s', async (_, project, sentence) => {
    expect(await launcher('--project', project, '--port', '0')).toEqual({
      code: 1,
      errors: expect.stringMatching(sentence),
      wrote: [],
    });
  });

  it('a taken port', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    expect(await launcher('--project', good, '--port', String(port))).toEqual({
      code: 1,
      errors: `Port ${port} is taken: stop what uses it, or choose another with --port (0 takes a free one).`,
      wrote: [],
    });
    server.close();
  });

  it('an unknown flag, or an invalid port', async () => {
    expect((await launcher('--prot', '1')).errors).toMatch(/^Unknown option '--prot'/);
    expect((await launcher('--port', 'many')).errors).toBe('--port many is not a port: give a number from 0 to 65535.');
  });
});
