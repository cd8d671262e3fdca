import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseSource } from './project-source.ts';
import { readProject } from './read-project.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'project-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function project(content: unknown) {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  await writeFile(join(directory, 'langgraph.json'), text);
  return readProject(directory, 'langgraph.json');
}

/** Writes empty files. */
async function writeFiles(...names: string[]) {
  for (const name of names) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), '');
  }
}

it('graphs are read as text and as an object, relative to the file', async () => {
  const { graphs } = await project({ graphs: { a: './src/a.ts:graph', b: { path: 'b.js', description: 'B' } } });
  expect(graphs).toEqual([
    { graphId: 'a', file: join(directory, 'src/a.ts'), symbol: 'graph' },
    { graphId: 'b', file: join(directory, 'b.js'), symbol: 'default', description: 'B' },
  ]);
});

it('the last colon of a source separates the export', () => {
  expect(parseSource('C:\\app\\a.ts:graph', '/x').symbol).toBe('graph');
  expect(parseSource('./a.ts', '/x')).toEqual({ file: '/x/a.ts', symbol: 'default' });
  expect(parseSource('./a.ts:', '/x').symbol).toBe('default');
});

it('variables are read from a map or a dotenv file, and a missing file is reported', async () => {
  const graphs = { a: './a.ts' };
  expect((await project({ graphs, env: { KEY: 'v' } })).env).toEqual({ KEY: 'v' });
  await writeFile(join(directory, '.env'), 'A=1\n# comment\nB="two words"\n');
  expect((await project({ graphs, env: '.env' })).env).toEqual({ A: '1', B: 'two words' });
  expect(await project({ graphs, env: './absent' })).toMatchObject({
    env: {},
    missingEnvFile: join(directory, 'absent'),
  });
});

it('a warning names every unknown key, and says which are for Python, but not the usual `dependencies`', async () => {
  const { warnings } = await project({
    graphs: { a: './a.ts' },
    python_version: '3.11',
    dependencies: ['.'],
    colour: 1,
  });
  expect(warnings).toEqual([
    'langgraph.json: "python_version" has no effect: it is for Python projects.',
    'langgraph.json: "colour" is not known and has no effect.',
  ]);
});

it('a warning names unknown keys inside a section, and keys without effect', async () => {
  const { warnings } = await project({
    graphs: { a: './a.ts' },
    http: { colour: 1, cors: { allow_origin: 'x' } },
    image_distro: 'wolfi',
    env: { COLOUR: 'red' },
  });
  expect(warnings).toEqual([
    'langgraph.json: "http.colour" is not known and has no effect.',
    'langgraph.json: "http.cors.allow_origin" is not known and has no effect.',
    'langgraph.json: "image_distro" has no effect: it only shapes container images, and none is built from this file.',
  ]);
});

it('a warning names unknown keys of a graph', async () => {
  const { warnings } = await project({ graphs: { a: { path: './a.ts', descripton: 'A' }, b: './b.ts' } });
  expect(warnings).toEqual(['langgraph.json: "graphs.a.descripton" is not known and has no effect.']);
});

it.each<[string, object, string[]]>([
  [
    'auth.cache without its keys',
    { auth: { path: './a.ts', cache: { ttl_seconds: 5 } } },
    ['"auth.cache" has no effect'],
  ],
  [
    'settings about an app that is not there',
    { auth: { path: './a.ts' }, http: { middleware_order: 'auth_first', enable_custom_route_auth: true } },
    ['"http.enable_custom_route_auth" has no effect', '"http.middleware_order" has no effect'],
  ],
  [
    'choices that only leave headers out',
    { http: { configurable_headers: { excludes: ['x-a'] }, logging_headers: { exclude: ['x-*'] } } },
    ['"http.configurable_headers" takes no header', '"http.logging_headers" takes no header'],
  ],
  ['a choice that leaves all headers out', { http: { configurable_headers: { excludes: ['*'] } } }, []],
  [
    'a strategy without a time',
    { checkpointer: { ttl: { strategy: 'keep_latest' } } },
    ['"checkpointer.ttl.strategy" has no effect'],
  ],
  ['a strategy with a time', { checkpointer: { ttl: { strategy: 'keep_latest', default_ttl: 5 } } }, []],
  ['a prefix without headers', { webhooks: { env_prefix: 'HOOK_' } }, ['"webhooks.env_prefix" has no effect']],
  ['options for components that are not there', { ui_config: { shared: ['d3'] } }, ['"ui_config" has no effect']],
  ['components of no graph', { ui: { a: './ui.tsx', agnet: './ui.tsx' } }, ['"ui.agnet" is not the name of a graph']],
])('a warning is given for exactly those settings that have no effect: %s', async (_, settings, expected) => {
  const { warnings } = await project({ graphs: { a: './a.ts' }, ...settings });
  expect(warnings).toEqual(
    expected.map((begin) => expect.stringMatching(new RegExp(`^langgraph\\.json: ${begin}.*\\.$`))),
  );
});

it('encryption that names no object is refused, in the file and as a variable', async () => {
  const graphs = { a: './a.ts' };
  await expect(project({ graphs, encryption: {} })).rejects.toThrow(/encryption\.path is required/);
  await project({ graphs });
  const asVariable = readProject(directory, 'langgraph.json', { LANGGRAPH_ENCRYPTION: '{}' });
  await expect(asVariable).rejects.toThrow(/encryption\.path is required/);
});

it('a section is read from its variable instead of the file, even when there is no file', async () => {
  await writeFile(
    join(directory, 'langgraph.json'),
    JSON.stringify({ graphs: { a: './a.ts' }, http: { app: './a.ts' } }),
  );
  const variables = { LANGGRAPH_HTTP: '{"disable_store": true}', LANGGRAPH_AUTH: 'null', LANGGRAPH_STORE: ' ' };
  const read = await readProject(directory, 'langgraph.json', variables);
  expect(read).toMatchObject({ app: null, auth: null, store: null, http: { disable_store: true } });
  const unfiled = await readProject(directory, 'nowhere.json', { LANGSERVE_GRAPHS: '{"b": "./b.ts:graph"}' });
  expect(unfiled.graphs).toMatchObject([{ graphId: 'b', file: join(directory, 'b.ts') }]);
  await expect(readProject(directory, 'langgraph.json', { LANGGRAPH_HTTP: '{' })).rejects.toThrow(/LANGGRAPH_HTTP/);
});

it('a warning names required variables that are not set, and another Node.js version of the project', async () => {
  const { warnings } = await project({ graphs: { a: './a.ts' }, env: ['NOT_SET_ANYWHERE'], node_version: '2' });
  expect(warnings).toEqual([
    'langgraph.json: "env" asks for the variable NOT_SET_ANYWHERE, and it is not set.',
    `langgraph.json: "node_version" is 2, and the project runs on Node.js ${process.versions.node.split('.')[0]}.`,
  ]);
});

it('a warning says that cookies are never accepted from every origin', async () => {
  const cors = (rules: object) =>
    project({ graphs: { a: './a.ts' }, http: { cors: { allow_credentials: true, ...rules } } });
  for (const rules of [{}, { allow_origins: ['*'] }]) {
    expect((await cors(rules)).warnings).toEqual([
      expect.stringContaining('"http.cors.allow_credentials" has no effect'),
    ]);
  }
  for (const rules of [{ allow_origins: ['https://a.example'] }, { allow_origin_regex: 'https://.*' }]) {
    expect((await cors(rules)).warnings).toEqual([]);
  }
});

it('the error for an invalid file says what is wrong', async () => {
  await expect(project('{')).rejects.toThrow(/langgraph.json is not valid JSON/);
  await expect(project({})).rejects.toThrow(/must be an object with a "graphs" key/);
  await expect(project({ graphs: {} })).rejects.toThrow(/graphs/);
  await expect(project({ graphs: { a: 5 } })).rejects.toThrow(/graphs\.a must be a string or an object/);
  await expect(project({ graphs: { a: './a.ts' }, http: { disable_store: 'yes' } })).rejects.toThrow(
    /http\.disable_store must be a boolean/,
  );
  await expect(readProject(directory, 'nowhere.json')).rejects.toThrow(/no readable .*nowhere.json/);
});

it('the auth handler and the settings of other parts are read', async () => {
  const read = await project({ graphs: { a: './a.ts' }, auth: { path: './auth.ts:auth' }, store: { ttl: {} } });
  expect(read.auth).toEqual({ file: join(directory, 'auth.ts'), symbol: 'auth' });
  expect(read.store).toEqual({ ttl: { refresh_on_read: true } });
});

it('settings of auth are read with their defaults, and warnings say when they have no effect', async () => {
  const graphs = { a: './a.ts' };
  const read = await project({ graphs, auth: { path: './auth.ts', cache: { cache_keys: ['x-user'] } }, http: {} });
  expect(read.authSettings).toEqual({
    path: './auth.ts',
    disable_studio_auth: false,
    allow_langsmith_api_keys: false,
    cache: { cache_keys: ['x-user'], ttl_seconds: 60, max_size: 1000 },
  });
  expect(read.warnings).toEqual([]);
  expect(read.http, 'neither true nor false').not.toHaveProperty('enable_custom_route_auth');
  const { authSettings, warnings } = await project({
    graphs,
    auth: { disable_studio_auth: true },
    http: { app: './app.ts', enable_custom_route_auth: true },
  });
  expect(authSettings).toMatchObject({ disable_studio_auth: true });
  expect(warnings).toEqual([
    'langgraph.json: "auth" has no effect without "auth.path".',
    expect.stringContaining('"http.enable_custom_route_auth" has no effect without "auth.path"'),
  ]);
  const openapi = { securitySchemes: { oauth: { type: 'oauth2' } }, security: [{ oauth: ['read'] }] };
  expect((await project({ graphs, auth: { path: './auth.ts', openapi } })).authSettings?.openapi).toEqual(openapi);
  const wrong = project({ graphs, auth: { path: './auth.ts', openapi: { security: { oauth: [] } } } });
  await expect(wrong).rejects.toThrow(/auth\.openapi\.security must be/);
});

it('a Python project names files and modules, and the folders of its own packages', async () => {
  const graphs = { a: './src/agent.py:graph', b: 'my_package.agent:make' };
  await writeFiles('tools/__init__.py');
  const dependencies = ['.', './libraries', './tools', 'langchain'];
  const { graphs: found, language, warnings, python } = await project({ graphs, dependencies });
  expect(found).toEqual([
    { graphId: 'a', file: join(directory, 'src/agent.py'), symbol: 'graph' },
    { graphId: 'b', file: '', module: 'my_package.agent', symbol: 'make' },
  ]);
  expect([language, warnings]).toEqual(['python', []]);
  const folders = [directory, join(directory, 'libraries'), join(directory, 'tools')];
  expect(python).toMatchObject({ folders, requirements: ['langchain'], version: null, installer: 'auto', lock: null });
  // A package is imported by the name of its folder.
  expect(python?.importPaths).toEqual([directory, join(directory, 'libraries'), directory]);
});

const ofPython = (more: object) => project({ graphs: { a: './a.py:graph' }, ...more });

it('a Python project says what is installed, and how', async () => {
  const settings = {
    python_version: '3.12',
    source: { kind: 'uv', root: '..', package: 'agent', colour: 1 },
    pip_installer: 'uv',
    keep_pkg_tools: ['pip'],
  };
  const { python, warnings } = await ofPython(settings);
  expect(python).toMatchObject({
    version: '3.12',
    lock: { folder: dirname(directory), member: 'agent' },
    installer: 'uv',
    keptTools: ['pip'],
  });
  expect(warnings).toEqual(['langgraph.json: "source.colour" is not known and has no effect.']);
  const ofPip = await ofPython({ pip_config_file: 'pip.conf', keep_pkg_tools: true });
  expect(ofPip.python).toMatchObject({
    pipConfigFile: join(directory, 'pip.conf'),
    keptTools: ['pip', 'setuptools', 'wheel'],
  });
  expect((await project({ graphs: { a: './a.ts' }, python_version: 3 })).python).toBeNull();
});

it.each<[object, string]>([
  [{ python_version: '3.10' }, 'langgraph.json: "python_version" is 3.10; 3.11 or newer is needed.'],
  [{ python_version: '3.11.4' }, 'python_version must'],
  [{ pip_installer: 'conda' }, 'pip_installer must be'],
  [{ dependencies: '.' }, 'dependencies must be'],
  [{ source: { kind: 'poetry' } }, 'source.kind must be'],
  [{ source: { kind: 'uv' }, dependencies: ['.'] }, '"source" and "dependencies" exclude each other'],
])('a Python project with %j is told its fault', async (settings, fault) => {
  await expect(ofPython(settings)).rejects.toThrow(fault);
});

it.each([
  ['./httpx', 'httpx/__init__.py', '"dependencies" names ./httpx, a package "httpx", which is also what'],
  ['./libs', 'libs/langchain_core/tools.py', '"dependencies" names ./libs, with a package "langchain_core", which is'],
  [
    './my-tools',
    'my-tools/__init__.py',
    '"dependencies" names ./my-tools, a package, and "my-tools" cannot be imported',
  ],
])('a folder of a Python project that could not be imported is a fault: %s', async (folder, file, fault) => {
  await writeFiles(file);
  await expect(ofPython({ dependencies: [folder] })).rejects.toThrow(`langgraph.json: ${fault}`);
});

it('a folder that is installed, or has a package of its own name, may be called as it likes', async () => {
  await writeFiles('fast-api/pyproject.toml', 'fast-api/__init__.py', 'vendor/src/tools.py', 'vendor/httpx/a.md');
  expect((await ofPython({ dependencies: ['./fast-api', './vendor'] })).python?.folders).toHaveLength(2);
});

it('a Python project that gives runs priorities is told that there are none', async () => {
  expect((await ofPython({ priority: { path: './priority.py:priority' } })).warnings).toEqual([
    'langgraph.json: "priority" has no effect: runs have no priorities here, and start in the order in which they came.',
  ]);
});

it('graphs of two languages, and a Python file without a name behind it, are faults', async () => {
  await expect(project({ graphs: { a: './a.ts', b: './b.py:graph' } })).rejects.toThrow(
    'langgraph.json names Python and JavaScript graphs; deploy them as two deployments.',
  );
  await expect(project({ graphs: { a: './a.py:' } })).rejects.toThrow('like "./a.py:graph"');
});
