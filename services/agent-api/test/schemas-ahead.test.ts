import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitFor } from '@runyard/test-kit';
import { expect, it, onTestFinished } from 'vitest';
import { startDeployment } from './deployment.ts';

const PACKAGES = fileURLToPath(new URL('../../../e2e/node_modules', import.meta.url));

it('schemas of a project that runs in place are stored before anybody asks, and answered without reading', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'in-place-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await symlink(PACKAGES, join(directory, 'node_modules'));
  await writeFile(join(directory, 'package.json'), '{"type":"module"}');
  await writeFile(join(directory, 'langgraph.json'), JSON.stringify({ graphs: { agent: './agent.ts:graph' } }));
  await writeFile(
    join(directory, 'agent.ts'),
    `import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
    const State = Annotation.Root({ question: Annotation<string> });
    export const graph = new StateGraph(State).addNode('n', () => ({})).addEdge(START, 'n').addEdge('n', END).compile();`,
  );
  const { client, close } = await startDeployment({
    // Nothing is read in a millisecond.
    env: { PROJECT_DIR: directory, READ_SCHEMAS_AHEAD: 'true', LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS: '1' },
  });
  onTestFinished(close);
  const stored = join(directory, '.runyard/graph-schemas.json');
  await waitFor(() => readFile(stored, 'utf8').catch(() => null), { timeoutMs: 60_000 });
  const [assistant] = await client.assistants.search();
  const { state_schema } = await client.assistants.getSchemas(assistant!.assistant_id);
  expect(state_schema).toMatchObject({ properties: { question: { type: 'string' } } });
}, 90_000);
