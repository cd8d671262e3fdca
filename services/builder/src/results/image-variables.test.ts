import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLocalDirectory } from '@runyard/deployments';
import { expect, it, onTestFinished } from 'vitest';
import { imageVariables } from './image-variables.ts';

it('an image has the auth section as it was before code of the project could put another file in its place', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'runyard-variables-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'project', 'langgraph.json');
  const auth = { path: './auth.mjs:auth', disable_studio_auth: true };
  await writeFile(join(folder, 'secret.json'), JSON.stringify({ auth: 'a secret of this machine' }));
  await mkdir(join(folder, 'project'));
  await writeFile(file, JSON.stringify({ graphs: { agent: './agent.mjs:graph' }, auth }));
  const project = await openLocalDirectory({ project_path: join(folder, 'project') }, { isBuilt: true });
  await rm(file);
  await symlink(join(folder, 'secret.json'), file);
  const { LANGGRAPH_AUTH: section = '', ...others } = imageVariables(project);
  expect(JSON.parse(section)).toMatchObject(auth);
  expect(others).toEqual({ PROJECT_DIR: '/deps/project', LANGGRAPH_CONFIG_PATH: 'langgraph.json' });
});
