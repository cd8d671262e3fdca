import { writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { graphOf, stateWith } from '../../test/graph-sources.ts';
import { temporaryProject } from '../../test/temporary-project.ts';
import type { LoadedGraph, Warn } from '../loading/load-graphs.ts';
import { SourceSchemas } from './source-schemas.ts';
import { StoredSchemas } from './stored-schemas.ts';

const REQUEST = { sourceTimeoutMs: 60_000, inBackground: true };

/** Returns the graphs of files that are called as the graphs are, and what reads their schemas. */
function sourcesOf(directory: string, names: string[], warn: Warn = () => undefined) {
  const graphs = names.map(
    (graphId) => ({ graphId, source: { file: join(directory, `${graphId}.ts`), symbol: 'graph' } }) as LoadedGraph,
  );
  const sources = new SourceSchemas(
    () => graphs,
    () => directory,
    warn,
  );
  return { graphs, sources };
}

it('schemas of a file that is saved after it was read are not stored as those of the new file', async () => {
  const directory = await temporaryProject({
    'state.ts': stateWith('question'),
    'agent.ts': graphOf("import { State } from './state.ts';"),
    'none.ts': '',
  });
  // The second graph is found to be none after the first was read, and before anything is stored.
  const { graphs, sources } = sourcesOf(directory, ['agent', 'none'], () =>
    writeFileSync(join(directory, 'state.ts'), stateWith('changed')),
  );
  expect(await sources.store(graphs, REQUEST)).toBe(1);
  expect((await StoredSchemas.read(directory)).has(graphs[0]!)).toBe(false);
});

it('schemas of a file that is saved after somebody asked for them are not stored as those of the new file', async () => {
  const directory = await temporaryProject({ 'agent.ts': graphOf(stateWith('question')) });
  const { graphs, sources } = sourcesOf(directory, ['agent']);
  await sources.of(graphs[0]!, REQUEST.sourceTimeoutMs);
  await writeFile(join(directory, 'agent.ts'), graphOf(stateWith('changed')));
  await sources.store(graphs, REQUEST);
  expect((await StoredSchemas.read(directory)).has(graphs[0]!)).toBe(false);
});

it('schemas that somebody asks for while others are read are those of each graph, for the asker and in the file', async () => {
  const names = ['one', 'two', 'three'];
  const directory = await temporaryProject(
    Object.fromEntries(names.map((name) => [`${name}.ts`, graphOf(stateWith(`in_${name}`))])),
  );
  const { graphs, sources } = sourcesOf(directory, names);
  const storing = sources.store(graphs, REQUEST);
  const asked = await Promise.all(graphs.map((graph) => sources.of(graph, REQUEST.sourceTimeoutMs)));
  const own = names.map((name) => ({ graph: { state: { properties: { [`in_${name}`]: { type: 'string' } } } } }));
  expect(asked).toMatchObject(own);
  expect(await storing).toBe(3);
  const { schemas } = JSON.parse(await readFile(join(directory, '.runyard/graph-schemas.json'), 'utf8'));
  expect(names.map((name) => schemas[`${name}.ts:graph`])).toMatchObject(own);
});
