import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cipher } from '@runyard/encryption';
import { silentLogger } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { LocalScaleStore } from './local-scale-store.ts';
import { StateFile } from './state-file.ts';

it('a data plane that restarts knows the last process counts of its deployments', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'runyard-scales-'));
  const cipher = new Cipher(Buffer.alloc(32, 7).toString('base64'));
  const scalesOf = (stateFile: StateFile) =>
    new LocalScaleStore({ stateFile, shared: undefined, logger: silentLogger });
  const stateFile = await StateFile.open(folder, cipher);
  const scales = scalesOf(stateFile);
  scales.store('a deployment', 'run-worker', 3);
  scales.store('a deployment', 'agent-api', 2);
  scales.store('a deployment', 'run-worker', 5);
  await stateFile.save();
  const again = scalesOf(await StateFile.open(folder, cipher));
  expect(await again.find('a deployment')).toEqual({ 'agent-api': 2, 'run-worker': 5 });
  expect(await again.find('another one')).toEqual({});
  await rm(folder, { recursive: true });
});
