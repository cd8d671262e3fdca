import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { updateAdvice } from './update-advice.ts';

const NAME = '@langchain/langgraph';
const work = mkdtempSync(join(tmpdir(), 'advice-'));
afterAll(() => rmSync(work, { recursive: true }));

/** @param lock the lock file in the folder above the project, as in a workspace */
function advice(range: string | undefined, lock: Record<string, string> = {}): string {
  const root = mkdtempSync(join(work, 'project-'));
  for (const [name, content] of Object.entries(lock)) writeFileSync(join(root, name), content);
  const folder = join(root, 'app');
  mkdirSync(join(folder, 'src'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies: range && { [NAME]: range } }));
  return updateAdvice(NAME, join(folder, 'src/agent.ts'), '0.2');
}

it.each(['^0.2.40', '~0.2.0', '0.2', '0.2.x', '0.x', '*', 'latest', '>=0.2.10', '> 0.2.3', '^0.1.0 || ^0.2.0-rc.1'])(
  'a project whose package.json says %s is given the command that updates its lock file',
  (range) => {
    const sentence = `Its package.json allows a newer one ("${range}"): run \`npm update ${NAME}\` and deploy again.`;
    expect(advice(range, { 'package-lock.json': '{}' })).toBe(sentence);
  },
);

it.each(['0.2.40', '^0.1.9', '0.0.x', '<0.2.50', '>=0.2.1 <0.2.50', 'workspace:*', 'github:a/b', undefined])(
  'a project whose package.json says %s has to change that itself',
  (range) => expect(advice(range)).toBe('Update it and deploy again.'),
);

it.each([
  ['npm update', { 'npm-shrinkwrap.json': '{}' }],
  ['pnpm update', { 'pnpm-lock.yaml': '' }],
  ['yarn upgrade', { 'yarn.lock': '# yarn lockfile v1\n' }],
  ['yarn up -R', { 'yarn.lock': '# by yarn\n\n__metadata:\n  version: 8\n' }],
  ['bun update', { 'bun.lock': '' }],
  ['npm update', {}],
])('the command is %s where the lock file is of that package manager', (command, lock) => {
  expect(advice('^0.2.0', lock)).toContain(`run \`${command} ${NAME}\` and`);
});
