import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ProjectFile, pythonSections } from '../schema.ts';
import { withGeneratedParts } from './page.ts';

const page = readFileSync(new URL('../../../../docs/langgraph-json.md', import.meta.url), 'utf8');

it('the page about langgraph.json matches the schema (npm run generate:docs in packages/project)', () => {
  expect(page).toBe(withGeneratedParts(page));
});

it('the page describes every key', () => {
  const keys = [...Object.keys(ProjectFile.properties), ...Object.keys(pythonSections)].filter(
    (key) => key !== '_INTERNAL_docker_tag',
  );
  for (const key of keys) expect(page).toContain(`| \`${key}\` |`);
  expect(page).not.toMatch(/\|\s+\|$/m);
});
