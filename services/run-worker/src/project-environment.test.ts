import { expect, it } from 'vitest';
import { projectEnvironment } from './project-environment.ts';

it('lets through what a program needs to run and nothing of the platform', () => {
  const own = { PATH: '/bin', DATABASE_URI: 'secret', RUNYARD_SECRETS_FD: '3', REDIS_URI: 'secret', HOME: undefined };
  expect(projectEnvironment({ own, project: {}, deployment: {} })).toEqual({ PATH: '/bin' });
});

it('the deployment’s variables stand above the project’s', () => {
  expect(
    projectEnvironment({ own: {}, project: { KEY: 'file', MODE: 'dev' }, deployment: { KEY: 'deployed' } }),
  ).toEqual({ KEY: 'deployed', MODE: 'dev' });
});
