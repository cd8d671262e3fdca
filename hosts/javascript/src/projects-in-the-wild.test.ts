import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openProject } from '@runyard/project';
import { expect, it } from 'vitest';
import { executionRequest, runToEnd, startHost } from '../test/host-under-test.ts';
import { temporaryProject } from '../test/temporary-project.ts';

const GRAPH = `
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
export const saying = (text: string) =>
  new StateGraph(Annotation.Root({ text: Annotation<string>() }))
    .addNode('say', () => ({ text }))
    .addEdge(START, 'say')
    .addEdge('say', END)
    .compile();
`;

/**
 * Returns what the graph of the project says.
 *
 * @param folder the place of `langgraph.json` in the source
 */
async function said(files: Record<string, string>, folder = '.', links: Record<string, string> = {}): Promise<unknown> {
  const root = await temporaryProject(files);
  for (const [link, target] of Object.entries(links)) {
    await mkdir(dirname(join(root, link)), { recursive: true });
    await symlink(target, join(root, link));
  }
  const config = { PROJECT_DIR: root, LANGGRAPH_CONFIG_PATH: join(folder, 'langgraph.json'), PROJECT_ENV: {} };
  const { configPath, environment } = await openProject(config, {});
  const host = await startHost('', { configPath, environment });
  try {
    return (await runToEnd(host, executionRequest('agent', { input: { text: '' } }))).values?.text;
  } finally {
    await host.close();
  }
}

const CONFIG = JSON.stringify({ graphs: { agent: './agent.ts:graph' } });

it('a project imports through the paths of its tsconfig.json, which may extend another', async () => {
  const files = {
    'tsconfig.base.json': JSON.stringify({
      compilerOptions: { paths: { '@/*': ['./src/*'], '~shared': ['./src/saying.ts'] } },
    }),
    'tsconfig.json': '{\n  // with comments\n  "extends": "./tsconfig.base.json",\n}',
    'src/saying.ts': GRAPH,
    'src/name.ts': `export const name = 'aliased';`,
    'agent.ts': `import { saying } from '~shared';\nimport { name } from '@/name';\nexport const graph = saying(name);`,
  };
  expect(await said(files)).toBe('aliased');
});

it('a langgraph.json in a subfolder has the tsconfig.json beside it, and its folder is the working directory', async () => {
  const files = {
    'tsconfig.json': JSON.stringify({ compilerOptions: { paths: { '@/*': ['./elsewhere/*'] } } }),
    'apps/agent/tsconfig.json': JSON.stringify({ compilerOptions: { paths: { '@/*': ['./src/*'] } } }),
    'apps/agent/langgraph.json': CONFIG,
    'apps/agent/src/saying.ts': GRAPH,
    'apps/agent/name.txt': 'Ada',
    'apps/agent/agent.ts': `
      import { readFileSync } from 'node:fs';
      import { saying } from '@/saying';
      export const graph = saying(readFileSync('name.txt', 'utf8'));`,
  };
  expect(await said(files, 'apps/agent')).toBe('Ada');
});

it('a langgraph.json in a subfolder without a tsconfig.json has the nearest one above', async () => {
  const files = {
    'tsconfig.json': JSON.stringify({ compilerOptions: { paths: { '@/*': ['./shared/*'] } } }),
    'shared/saying.ts': GRAPH,
    'apps/agent/langgraph.json': CONFIG,
    'apps/agent/agent.ts': `import { saying } from '@/saying';\nexport const graph = saying('shared');`,
  };
  expect(await said(files, 'apps/agent')).toBe('shared');
});

it.each([
  ['an ES module', 'module'],
  ['CommonJS', 'commonjs'],
])('a graph in %s imports JSON and text', async (_, type) => {
  const files = {
    'package.json': JSON.stringify({ name: 'wild', type }),
    'saying.ts': GRAPH,
    'settings.json': '{ "name": "Ada" }',
    'prompts/system.md': '# Greet\n',
    'prompts/user.txt': 'it\'s "{name}"',
    'agent.ts': `
      import settings from './settings.json';
      import { saying } from './saying';
      import system from './prompts/system.md';
      import user from './prompts/user.txt';
      export const graph = saying(system + user.replace('{name}', settings.name));`,
  };
  expect(await said(files)).toBe('# Greet\nit\'s "Ada"');
});

it('an ES module imports any file as text when it says so', async () => {
  const files = {
    'saying.ts': GRAPH,
    'query.sql': 'select 1',
    'agent.ts': `
      import query from './query.sql' with { type: 'text' };
      import data from './langgraph.json' with { type: 'json' };
      import { saying } from './saying.js';
      export const graph = saying(query + Object.keys(data.graphs));`,
  };
  expect(await said(files)).toBe('select 1agent');
});

it.each(['tsx', 'jsx'])(
  'a graph is in a .%s file, with elements in the runtime that tsconfig.json names',
  async (extension) => {
    const files = {
      'langgraph.json': JSON.stringify({ graphs: { agent: `./agent.${extension}:graph` } }),
      'tsconfig.json': JSON.stringify({
        compilerOptions: { jsx: 'react-jsx', jsxImportSource: '#text', allowJs: true },
      }),
      'package.json': JSON.stringify({
        name: 'wild',
        type: 'module',
        imports: { '#text/jsx-runtime': './text-runtime.ts' },
      }),
      'text-runtime.ts': `export const jsx = (tag, { children }) => '<' + tag + '>' + [children].flat().join('');\nexport const jsxs = jsx;`,
      'saying.ts': GRAPH,
      [`agent.${extension}`]: `
      import { saying } from './saying.ts';
      const name = 'Ada';
      export const graph = saying(<greeting>hello {name}</greeting>);`,
    };
    expect(await said(files)).toBe('<greeting>hello Ada');
  },
);

it('a graph of a monorepo imports the TypeScript of a workspace package', async () => {
  const files = {
    'package.json': JSON.stringify({ name: 'monorepo', private: true, workspaces: ['apps/*', 'packages/*'] }),
    'packages/prompts/package.json': JSON.stringify({
      name: '@acme/prompts',
      type: 'module',
      exports: { '.': './src/index.ts', './names': { types: './src/names.ts', default: './src/names.ts' } },
    }),
    'packages/prompts/src/index.ts': `export { greet } from './greet.js';\n${GRAPH}`,
    'packages/prompts/src/greet.ts': `export const greet = (name: string): string => 'hello ' + name;`,
    'packages/prompts/src/names.ts': `export enum Name { Ada = 'Ada' }`,
    'packages/legacy/package.json': JSON.stringify({ name: 'legacy', main: 'src/index.ts' }),
    'packages/legacy/src/index.ts': `export const mark: string = '!';`,
    'apps/agent/package.json': JSON.stringify({ name: 'agent', type: 'module' }),
    'apps/agent/langgraph.json': CONFIG,
    'apps/agent/agent.ts': `
      import { greet, saying } from '@acme/prompts';
      import { Name } from '@acme/prompts/names';
      import { mark } from 'legacy';
      export const graph = saying(greet(Name.Ada) + mark);`,
  };
  const links = {
    'apps/agent/node_modules/@acme/prompts': '../../../../packages/prompts',
    'apps/agent/node_modules/legacy': '../../../packages/legacy',
  };
  expect(await said(files, 'apps/agent', links)).toBe('hello Ada!');
});

it('a CommonJS file may compute its exports', async () => {
  const files = {
    'package.json': '{ "name": "wild" }',
    'langgraph.json': JSON.stringify({ graphs: { agent: './agent.js:graph' } }),
    'saying.ts': GRAPH,
    'agent.js': `const { saying } = require('./saying');\nconst all = () => ({ graph: saying('computed') });\nmodule.exports = all();`,
  };
  expect(await said(files)).toBe('computed');
});
