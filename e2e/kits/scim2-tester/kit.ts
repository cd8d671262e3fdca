import path from 'node:path';
import type { IssuedScimToken } from '@runyard/contracts';
import { askPlatform } from '../ask-platform.ts';
import type { Kit } from '../kit.ts';
import { runChecks } from '../run-program.ts';

/** Every SCIM operation of the platform, by the checks of scim2-tester, with a token that it makes. */
export const scim2Tester: Kit = {
  name: 'scim2-tester',
  knownFailures: {},
  async run(platform) {
    const tokens = '/v1/platform/orgs/current/scim/tokens';
    const { token } = await askPlatform<IssuedScimToken>(platform, 'POST', tokens, { description: 'scim2-tester' });
    return await runChecks({
      requirements: path.join(import.meta.dirname, 'requirements.txt'),
      args: [path.join(import.meta.dirname, 'checks.py')],
      variables: { SCIM_URL: `${platform.url}/scim/v2`, SCIM_TOKEN: token },
    });
  },
};
