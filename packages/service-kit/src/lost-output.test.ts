import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';

const main = `
import Type from 'typebox';
import { runService } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)};
await runService({ name: 'orphan', schema: Type.Object({}), run: async (_, { logger, lifecycle }) => {
  // One that is still under way when the parent is gone, and says so.
  lifecycle.onStop('work', () => new Promise((resolve) => setTimeout(resolve, 200)));
  setInterval(() => logger.info('still here'), 10);
  lifecycle.ready();
} });
`;

describe('a service whose parent was killed', () => {
  it('stops cleanly though nobody reads its log any more', async () => {
    const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', main], {
      cwd: import.meta.dirname,
      env: { PATH: process.env.PATH, RUNYARD_PARENT_FD: '3' },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    try {
      await once(child.stdout as NodeJS.ReadableStream, 'data');
      child.stdout?.destroy();
      child.stderr?.destroy();
      (child.stdio[3] as Writable).destroy();
      expect(await once(child, 'exit', { signal: AbortSignal.timeout(15_000) })).toEqual([0, null]);
    } finally {
      child.kill('SIGKILL');
    }
  }, 30_000);
});
