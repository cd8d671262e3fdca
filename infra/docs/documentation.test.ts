import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const repository = join(import.meta.dirname, '../..');
const textOf = (path: string) => readFileSync(join(repository, path), 'utf8');

it('every link in the documentation leads somewhere', () => {
  const inDocs = readdirSync(join(repository, 'docs'), { recursive: true, encoding: 'utf8' }).map(
    (path) => `docs/${path}`,
  );
  const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...inDocs.filter((path) => path.endsWith('.md'))];
  const broken = pages.flatMap((page) =>
    [...textOf(page).matchAll(/\]\(([^)#\s]+)/g)]
      .map(([, link]) => link!)
      .filter((link) => !/^\w+:/.test(link) && !existsSync(join(repository, dirname(page), link)))
      .map((link) => `${page} → ${link}`),
  );
  expect(broken).toEqual([]);
});

it.each([
  ['agent-api', 'agent-api/src'],
  ['control-plane', 'control-plane/src'],
  ['data-plane', 'control-plane/src/remote-data-plane'],
  ['gateway', 'gateway/src'],
  ['org-access', 'org-access/src'],
  ['run-worker', 'run-worker/src'],
])('the page of %s names each of its variables, and the default that ships', async (service, folder) => {
  const { configSchema } = (await import(join(repository, `services/${folder}/config.ts`))) as {
    configSchema: { properties: Record<string, { default?: unknown }> };
  };
  const pages = textOf(`docs/services/${service}.md`) + textOf('docs/services/README.md');
  const missing = Object.keys(configSchema.properties).filter((name) => !pages.includes(`\`${name}\``));
  expect(missing).toEqual([]);

  const shipped = new Map(
    [...pages.matchAll(/^\| `([A-Z][A-Z0-9_]+)` \| `([^`]*)` \|/gm)].map(([, name, value]) => [name, value]),
  );
  const wrong = Object.entries(configSchema.properties)
    .filter(
      ([name, { default: value }]) =>
        typeof value !== 'object' && value !== undefined && shipped.has(name) && shipped.get(name) !== String(value),
    )
    .map(([name, { default: value }]) => `${name} is ${String(value)}, the page says ${shipped.get(name)}`);
  expect(wrong).toEqual([]);
});

it('every test that the page about security names is there', () => {
  const named = [...textOf('docs/security.md').matchAll(/`([\w./-]+\.test\.ts)`: "([^"]+)"/g)];
  expect(named.length).toBeGreaterThan(15);
  const missing = named
    .filter(([, file, name]) => !existsSync(join(repository, file!)) || !textOf(file!).includes(name!))
    .map(([text]) => text);
  expect(missing).toEqual([]);
});

it('the page about security has a line for each goal', () => {
  const goals = [...textOf('docs/security.md').matchAll(/^\| (S\d+) /gm)].map(([, goal]) => goal);
  expect(goals).toEqual(Array.from({ length: 15 }, (_, index) => `S${index + 1}`));
});
