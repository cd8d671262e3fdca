import { expect, test } from 'vitest';
import { formatInZone } from './zone-time.ts';

test('a moment is shown as the clocks of the zone show it, and in UTC where the zone is not known', () => {
  expect(formatInZone('2026-12-01T09:46:00.000000+00:00', 'Asia/Tokyo')).toMatch(/6:46/);
  expect(formatInZone('2026-12-01T09:46:00.000000+00:00', 'No/Where')).toMatch(/9:46.*UTC/);
});
