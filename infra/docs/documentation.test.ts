import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const repository = join(import.meta.dirname, '../..');
const textOf = (path: string) => readFileSync(join(repository, path), 'utf8');

/** Returns the pages in the folder of a service, if its page was split into several. */
function pagesBelow(service: string): string[] {
  const folder = join(repository, 'docs/services', service);
  return existsSync(folder) ? readdirSync(folder).map((name) => `${service}/${name.replace(/\.md$/, '')}`) : [];
}

it.each([
  ['agent-api', 'agent-api/src'],
  ['builder', 'builder/src'],
  ['console', 'console/src'],
  ['control-plane', 'control-plane/src'],
  ['data-plane', 'data-plane/src'],
  ['gateway', 'gateway/src'],
  ['oauth-broker', 'oauth-broker/src'],
  ['org-access', 'org-access/src'],
  ['registry', 'registry/src'],
  ['run-history', 'run-history/src'],
  ['run-worker', 'run-worker/src'],
])('the pages of %s name each of its variables, and the default that ships', async (service, folder) => {
  const { configSchema } = (await import(join(repository, `services/${folder}/config.ts`))) as {
    configSchema: { properties: Record<string, { default?: unknown }> };
  };
  const pages = [service, ...pagesBelow(service), 'README']
    .map((page) => textOf(`docs/services/${page}.md`))
    .join('\n');
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

it('every test that the page about security names exists', () => {
  const page = textOf('docs/security.md').replaceAll('\n', ' ');
  const named = [...page.matchAll(/`([\w./-]+\.test\.ts)`: "([^"]+)"/g)];
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
