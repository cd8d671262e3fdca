import { join } from 'node:path';
import { describe, it } from 'vitest';
import { checkCase, hostCases } from '../../src/suite/cases.ts';

const about = {
  command: ['python3', '-B', join(import.meta.dirname, 'host.py')],
  project: join(import.meta.dirname, 'project'),
};

describe('a small host in Python, written from the page about the protocol', () => {
  it.each(hostCases.filter(({ part }) => part === 'first').map((hostCase) => [hostCase.name, hostCase] as const))(
    '%s',
    async (_name, hostCase) => checkCase(hostCase, about),
  );
});
