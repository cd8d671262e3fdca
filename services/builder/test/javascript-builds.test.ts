import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LINK_PACKAGES, PROJECT } from '@runyard/test-kit/built-project';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LOCKED_RELEASE, lockedProjects } from './support/locked-projects.ts';
import { TestBuilds, type TestOrder } from './support/test-builds.ts';

let builds: TestBuilds;
beforeAll(async () => {
  builds = await TestBuilds.start();
});
afterAll(() => builds.close());

it('a project in a subfolder is loaded with the tsconfig.json there, and its schemas are stored with it', async () => {
  const files = {
    'package.json': '{ "type": "module" }',
    'agent/langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:graph' } }),
    'agent/tsconfig.json': JSON.stringify({ compilerOptions: { paths: { '@/*': ['./src/*'] } } }),
    'agent/agent.ts': `export { graph } from '@/graph';`,
    'agent/src/graph.ts': `
      import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
      const State = Annotation.Root({ text: Annotation<string> });
      export const graph = new StateGraph(State)
        .addNode('say', () => ({ text: 'hello' })).addEdge(START, 'say').addEdge('say', END).compile();`,
  };
  const id = randomUUID();
  expect((await builds.build({ id, files, configPath: 'agent/langgraph.json' })).end).toEqual({ kind: 'archive' });
  const stored = join(await builds.unpack(id), 'agent/.runyard/graph-schemas.json');
  expect(JSON.parse(await readFile(stored, 'utf8')).schemas).toMatchObject({
    'agent.ts:graph': { graph: { state: { properties: { text: { type: 'string' } } } } },
  });
});

it.each(lockedProjects())(
  'locked packages are installed by $manager, which this machine need not have',
  async ({ files, configPath, fetched, installed }) => {
    const buildCommand = `${LINK_PACKAGES} && node -p "'ms ' + require('ms/package.json').version"`;
    const order = { files, installCommand: null, buildCommand, ...(configPath !== undefined && { configPath }) };
    const { end, lines } = await builds.build(order);
    expect(end).toEqual({ kind: 'archive' });
    expect(lines).toEqual(expect.arrayContaining([fetched, installed, `ms ${LOCKED_RELEASE}`]));
  },
);

/** A file that only the service may read. */
const OUTSIDE = '/proc/self/environ';
const project = (config: object) => ({ ...PROJECT, 'langgraph.json': JSON.stringify(config) });

/** A LangGraph whose packages are in this order of folders, and of these releases. */
const linkOldLangGraph = `
  mkdir -p node_modules/@langchain/langgraph/node_modules/@langchain/langgraph-checkpoint && cd node_modules/@langchain/langgraph &&
  echo '{"name":"@langchain/langgraph","version":"1.0.0","main":"i.js"}' > package.json && touch i.js &&
  cd node_modules/@langchain/langgraph-checkpoint &&
  echo '{"name":"@langchain/langgraph-checkpoint","version":"0.0.15","main":"i.js"}' > package.json && touch i.js`;

it.each<[string, TestOrder, RegExp]>([
  [
    'its install command',
    { installCommand: 'echo no such package >&2; exit 4' },
    /ended with code 4\.\nThe last lines[\s\S]*no such package/,
  ],
  ['a program that is not there', { installCommand: 'no-such-tool install' }, /not installed here[\s\S]*no-such-tool/],
  ['its langgraph.json', { files: { 'langgraph.json': '{ nonsense' } }, /langgraph\.json is not valid JSON/],
  [
    'an env file outside of it',
    { files: project({ graphs: { agent: './agent.mjs' }, env: OUTSIDE }) },
    /leads out of the source/,
  ],
  [
    'an env file that the build command makes a link out of it',
    { files: project({ graphs: { agent: './agent.mjs' }, env: '.env' }), installCommand: `ln -s ${OUTSIDE} .env` },
    /\.env leads out of the source/,
  ],
  [
    'a langgraph.json that the build command makes a link out of it',
    { installCommand: `ln -sf ${OUTSIDE} langgraph.json` },
    /langgraph\.json leads out of the source/,
  ],
  [
    'a graph',
    { files: { ...PROJECT, 'agent.mjs': 'throw new Error("no model");' } },
    /Graph "agent" did not load: no model/,
  ],
  [
    'a LangGraph that is too old',
    { files: { ...PROJECT, 'agent.mjs': 'export const graph = {};' }, installCommand: linkOldLangGraph },
    /@langchain\/langgraph-checkpoint 0\.0\.15; the oldest supported version is 0\.0\.16/,
  ],
  ['its build command', { buildCommand: 'exit 5' }, /`exit 5` ended with code 5/],
])('a build that fails because of %s says so', async (_, order, reason) => {
  const failed = await builds.build(order);
  expect(failed.reason).toMatch(reason);
  expect(failed.reason).not.toContain(builds.dataDir);
});
