import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { bundledEntry, waitFor } from '@runyard/test-kit';
import type { EventBusConfig } from '../index.ts';

/** Starts a separate process that begins the effect of every event and never ends it. */
export async function startConsumerProcess(
  config: EventBusConfig,
  group: string,
): Promise<{ hasBegun(eventId: string): Promise<void>; kill(): Promise<void> }> {
  const entry = await bundledEntry(fileURLToPath(new URL('./never-ending-consumer.ts', import.meta.url)));
  const child = spawn(process.execPath, [entry, JSON.stringify(config), group], {
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
    },
  };
}
