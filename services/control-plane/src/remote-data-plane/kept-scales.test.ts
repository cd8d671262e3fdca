import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sealer } from '@runyard/sealing';
import { silentLogger } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { KeptScales } from './kept-scales.ts';
import { KeptState } from './kept-state.ts';

it('a data plane that restarts knows the last process counts of its deployments', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'runyard-kept-scales-'));
  const sealer = new Sealer(Buffer.alloc(32, 7).toString('base64'));
  const scalesOf = (kept: KeptState) => new KeptScales({ kept, logger: silentLogger });
  const kept = await KeptState.open(folder, sealer);
  const scales = scalesOf(kept);
  scales.keep('a deployment', 'run-worker', 3);
  scales.keep('a deployment', 'agent-api', 2);
  scales.keep('a deployment', 'run-worker', 5);
  await kept.save();
  const again = scalesOf(await KeptState.open(folder, sealer));
  expect(await again.of('a deployment')).toEqual({ 'agent-api': 2, 'run-worker': 5 });
  expect(await again.of('another one')).toEqual({});
  await rm(folder, { recursive: true });
});
