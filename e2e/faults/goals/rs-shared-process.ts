import type { Goal } from '../bench/goal.ts';
import { measureKilledPlatform } from '../bench/killed-platform.ts';

export const goal: Goal = {
  id: 'RS',
  title:
    'A platform whose services share a process, as on a laptop, is back by itself when that one is killed, and has forgotten nothing.',
  run: (bench) => measureKilledPlatform(bench, { processes: ['platform-services', 'builder'] }),
};
