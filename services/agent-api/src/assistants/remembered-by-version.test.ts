import { expect, it } from 'vitest';
import { RememberedByVersion } from './remembered-by-version.ts';

const MIB = 1024 * 1024;

/** Remembers numbers of bytes that grow with the version. */
function remember() {
  const looked: string[] = [];
  const remembered = new RememberedByVersion<number>({
    look: async (assistantId) => {
      looked.push(assistantId);
      return Number(assistantId) * MIB;
    },
    unknown: 0,
    bytesOf: (bytes) => bytes,
  });
  return { looked, of: (mebibytes: number) => remembered.of({ assistantId: `${mebibytes}`, version: 1 }) };
}

it('large versions are forgotten, the oldest first, and small ones are not for their sake', async () => {
  const { looked, of } = remember();
  for (const mebibytes of [1, 30, 31, 2]) await of(mebibytes);
  for (const mebibytes of [1, 30, 31, 2]) await of(mebibytes);
  expect(looked).toEqual(['1', '30', '31', '2']);
  await of(29);
  for (const mebibytes of [29, 2, 31]) await of(mebibytes);
  expect(looked).toEqual(['1', '30', '31', '2', '29']);
  await of(30);
  expect(looked.at(-1)).toBe('30');
});

it('a version that is larger than all there is room for is looked at each time, and leaves room for others', async () => {
  const { looked, of } = remember();
  await of(100);
  await of(100);
  await of(1);
  await of(1);
  expect(looked).toEqual(['100', '100', '1']);
});
