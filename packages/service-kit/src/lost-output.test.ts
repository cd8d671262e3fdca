import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';

const main = `
import Type from 'typebox';
import { runService } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)};
await runService({ name: 'orphan', schema: Type.Object({}), run: async (_, { logger, lifecycle }) => {
  let onLine = () => {};
  setInterval(() => {
    logger.info('still here');
    onLine();
  }, 10);
  // The work is in flight when the parent has exited, and ends after twenty more lines.
  lifecycle.onStop('work', () => new Promise((resolve) => {
    let left = 20;
    onLine = () => {
      left -= 1;
      if (left === 0) resolve();
    };
  }));
  lifecycle.ready();
} });
`;

describe('a service whose parent was killed', () => {
  it('stops cleanly although nobody reads its log any more', async () => {
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
      expect(await once(child, 'exit')).toEqual([0, null]);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
