import { expect, it } from 'vitest';
import { projectEnvironment } from './project-environment.ts';

it('hands on what a program needs of the machine and nothing of the platform; what was deployed wins', () => {
  const own = { PATH: '/bin', DATABASE_URI: 'postgres://secret', LANGGRAPH_HTTP: '{}' };
  expect(projectEnvironment({ own, project: { A: 'file', B: 'file' }, deployment: { B: 'deployment' } })).toEqual({
    PATH: '/bin',
    LANGGRAPH_HTTP: '{}',
    A: 'file',
    B: 'deployment',
  });
});
