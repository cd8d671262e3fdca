import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryProject } from '../../test/temporary-project.ts';
import { ConsultedFiles } from './consulted-files.ts';
import { areUnchanged } from './file-digests.ts';

it('a folder that is added where the compiler looked for one is a change', async () => {
  const directory = await temporaryProject({});
  const { digests, system } = new ConsultedFiles(directory);
  system.directoryExists(join(directory, 'lib'));
  expect(await areUnchanged(directory, digests)).toBe(true);
  await mkdir(join(directory, 'lib'));
  expect(await areUnchanged(directory, digests)).toBe(false);
});
