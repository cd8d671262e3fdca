import { expect, it } from 'vitest';
import { chooseVersion } from './versions.ts';

it('a parent chooses the highest version that both sides speak', () => {
  expect(chooseVersion({ protocol: 1, protocols: [1, 2, 3] }, [1, 2])).toBe(2);
  expect(chooseVersion({ protocol: 2, protocols: [2, 3] }, [1, 2])).toBe(2);
});

it('a host that names one version alone, as before versions were negotiated, is spoken to in that one', () => {
  expect(chooseVersion({ protocol: 1 }, [1, 2])).toBe(1);
});

it('no version is chosen where the two sides have none in common', () => {
  expect(chooseVersion({ protocol: 3, protocols: [3] }, [1, 2])).toBeUndefined();
  expect(chooseVersion({ protocol: 3 }, [1, 2])).toBeUndefined();
});
