import type { Goal } from '../bench/goal.ts';
import { measureKilledPlatform } from '../bench/killed-platform.ts';

export const goal: Goal = {
  id: 'RP',
  title:
    'A platform whose gateway, control-plane, data-plane, builder, org-access or oauth-broker is killed is back by itself and has forgotten nothing.',
  run: (bench) =>
    measureKilledPlatform(bench, {
      processes: ['gateway', 'control-plane', 'data-plane', 'builder', 'org-access', 'oauth-broker'],
      env: { RUNYARD_SHARED_PROCESS: 'off' },
    }),
};
