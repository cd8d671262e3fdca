import { expect, it } from 'vitest';
import { withoutEncryptionKeys } from './encryption-keys.ts';
import { projectEnvironment } from './project-environment.ts';

it('a project gets the machine variables that a program needs and none of the platform; the deployment wins', () => {
  const own = { PATH: '/bin', DATABASE_URI: 'postgres://secret', LANGGRAPH_HTTP: '{}', LANGGRAPH_API_URL: 'http://a' };
  expect(projectEnvironment({ own, project: { A: 'file', B: 'file' }, deployment: { B: 'deployment' } })).toEqual({
    PATH: '/bin',
    LANGGRAPH_HTTP: '{}',
    A: 'file',
    B: 'deployment',
  });
});

it('no key to the data of a deployment is in the environment of its code', () => {
  expect(withoutEncryptionKeys({ A: '1', LANGGRAPH_AES_KEY: 'own', RUNYARD_DEPLOYMENT_KEYS: 'platform' })).toEqual({
    A: '1',
  });
});
