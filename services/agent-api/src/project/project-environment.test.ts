import { expect, it } from 'vitest';
import { projectEnvironment } from './project-environment.ts';

it('hands on what a program needs of the machine and nothing of the platform', () => {
  const machine = { PATH: '/bin', DATABASE_URI: 'postgres://secret', INTERNAL_TOKEN: 'secret' };
  expect(projectEnvironment({ env: { A: 'file', B: 'file' } }, { B: 'deployment' }, machine)).toEqual({
    PATH: '/bin',
    A: 'file',
    B: 'deployment',
  });
});
