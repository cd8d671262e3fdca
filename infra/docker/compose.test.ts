import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('services of the compose file share the network of a container that runs none, as whoever restarts gets a new one', async () => {
  const compose = await readFile(join(import.meta.dirname, '../compose.yaml'), 'utf8');
  const owners = new Set([...compose.matchAll(/^ +network_mode: service:(.*)$/gm)].map(([, owner]) => owner));
  expect([...owners]).toEqual(['network']);
  const [, description] = /^ {2}network:\n((?: {4}.*\n)+)/m.exec(compose) ?? [];
  expect(description).toContain('command: [sleep, infinity]');
});
