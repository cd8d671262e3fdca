/** Files of `graphs` whose import ends the process, or never ends: the parent waits for neither. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGraphHost } from '@runyard/host-client';
import { packagesOf } from '@runyard/test-kit/python';
import { expect, it, onTestFinished } from 'vitest';
import { python } from './python-host.ts';

/** Loads a project whose file has this text. */
async function load(file: string, startTimeoutMs?: number) {
  const folder = await mkdtemp(join(tmpdir(), 'runyard-bad-file-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'agent.py'), file);
  const configPath = join(folder, 'langgraph.json');
  await writeFile(configPath, JSON.stringify({ dependencies: ['.'], graphs: { agent: './agent.py:graph' } }));
  return startGraphHost({
    configPath,
    environment: packagesOf(python),
    onLog: () => {},
    ...(startTimeoutMs !== undefined && { startTimeoutMs }),
  });
}

it('a file that ends the process did not load, and its last words say why', async () => {
  const file = 'import os, sys\nos.write(2, b"no licence\\n")\nos._exit(3)\n';
  await expect(load(file)).rejects.toThrow('The process that loads the project exited with code 3.\nno licence');
});

it.each([
  ['waits', 'import time\nwhile True:\n    time.sleep(1)\n'],
  ['computes', 'while True:\n    pass\n'],
])('a file that %s for ever did not load in its time', async (_, file) => {
  await expect(load(file, 4_000)).rejects.toThrow('The project did not load within 4000 ms.');
});
