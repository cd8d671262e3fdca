import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { waitFor } from '@runyard/test-kit';
import { build } from 'esbuild';
import type { EventBusConfig } from '../index.ts';

/** A process of its own that begins the effect of every event and never ends it. */
export async function startConsumerProcess(
  config: EventBusConfig,
  group: string,
): Promise<{ hasBegun(eventId: string): Promise<void>; kill(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'consumer-'));
  const outfile = join(folder, 'consumer.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('./never-ending-consumer.ts', import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    mainFields: ['module', 'main'],
    banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
    logLevel: 'error',
  });
  const child = spawn(process.execPath, [outfile, JSON.stringify(config), group], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = new Set<string>();
  createInterface({ input: child.stdout }).on('line', (line) => lines.add(line));
  const printed = async (line: string) => void (await waitFor(() => lines.has(line), { what: `the line "${line}"` }));
  await printed('subscribed');
  return {
    hasBegun: (eventId) => printed(`begun ${eventId}`),
    kill: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      await rm(folder, { recursive: true });
    },
  };
}
