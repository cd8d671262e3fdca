import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { printLinksOnEnter } from './sign-in-links.ts';

it('each Enter prints a link of its own, and one that fails keeps the next from nothing', async () => {
  const input = new PassThrough();
  const said: string[] = [];
  let asked = 0;
  const create = async () => {
    asked += 1;
    if (asked === 2) throw new Error('org-access is away');
    return `http://127.0.0.1:2024/auth/link?token=${asked}`;
  };
  const links = printLinksOnEnter(input, { create, say: (line) => said.push(line) });
  for (let count = 1; count <= 3; count++) {
    input.write('\n');
    await expect.poll(() => said.length).toBe(count);
  }
  expect(said).toEqual([
    'Sign in, once: http://127.0.0.1:2024/auth/link?token=1',
    'There is no link at the moment: org-access is away',
    'Sign in, once: http://127.0.0.1:2024/auth/link?token=3',
  ]);
  links.close();
});
