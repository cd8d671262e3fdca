import { join } from 'node:path';
import { checkCase, hostCases } from '@runyard/host-protocol/suite';
import { describe, it } from 'vitest';
import { FOLDER, python } from './python-host.ts';

const command = [
  'env',
  `PYTHONPATH=${join(FOLDER, 'src')}`,
  'PYTHONDONTWRITEBYTECODE=1',
  ...[python, '-P', '-X', 'utf8', '-m', 'runyard_graph_host'],
];
const project = join(FOLDER, 'fixtures/suite');

describe('the host of Python projects', () => {
  it.each(hostCases.map((hostCase) => [hostCase.name, hostCase] as const))('%s', async (_name, hostCase) => {
    await checkCase(hostCase, { command, project });
  });
});
