import { expect, it } from 'vitest';
import { spawnChild } from './child-process.ts';

const start = (host: { args: string[]; hasPulse?: boolean }) =>
  spawnChild({
    host: { command: '/bin/sh', ...host },
    directory: '/',
    environment: {},
    user: undefined,
    onOutput: () => undefined,
  });

it('the signs of life that a host gives beside its connection are counted', async () => {
  const child = start({ args: ['-c', 'printf .. >&4; read -r nothing <&3'], hasPulse: true });
  await expect.poll(() => child.beats()).toBe(2);
  child.socket.end('\n');
  await child.exited;
});

it('a host without a pulse has no descriptor for it', async () => {
  const child = start({ args: ['-c', 'printf . >&4'] });
  expect(await child.exited).toBe('exited with code 2');
  expect(child.beats()).toBeUndefined();
});
