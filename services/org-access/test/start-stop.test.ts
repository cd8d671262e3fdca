import { silentLogger as logger } from '@runyard/service-kit';
import { startStopStorm } from '@runyard/test-kit';
import { expect, it } from 'vitest';
import { createLastUseRecorder } from '../src/sign-in/tokens/last-use-recorder.ts';

const nothingIsUsed = {} as Parameters<typeof createLastUseRecorder>[0]['prisma'];

it('the record of used keys can be started and stopped at any moment, and leaves nothing behind', async () => {
  const open = () => createLastUseRecorder({ prisma: nothingIsUsed, logger });
  expect((await startStopStorm({ name: 'the record of used keys', open })).faults).toEqual([]);
});
