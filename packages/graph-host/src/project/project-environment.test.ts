import { expect, it } from 'vitest';
import { projectEnvironment } from './project-environment.ts';

it('a project gets the machine variables that a program needs and none of the platform; the deployment wins', () => {
  const own = { PATH: '/bin', DATABASE_URI: 'postgres://secret', LANGGRAPH_HTTP: '{}', LANGGRAPH_API_URL: 'http://a' };
  expect(projectEnvironment({ own, project: { A: 'file', B: 'file' }, deployment: { B: 'deployment' } })).toEqual({
    PATH: '/bin',
    LANGGRAPH_HTTP: '{}',
    LANGGRAPH_API_URL: 'http://a',
    A: 'file',
    B: 'deployment',
  });
});
