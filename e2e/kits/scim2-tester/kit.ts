import path from 'node:path';
import type { Kit } from '../kit.ts';
import { runChecks } from '../run-program.ts';

/** Every SCIM operation of the platform, by the checks of scim2-tester, with a token that it makes. */
export const scim2Tester: Kit = {
  name: 'scim2-tester',
  knownFailures: {},
  async run({ url, apiKey }) {
    const made = await fetch(`${url}/v1/platform/orgs/current/scim/tokens`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ description: 'scim2-tester' }),
    });
    const { token } = (await made.json()) as { token: string };
    return await runChecks({
      requirements: path.join(import.meta.dirname, 'requirements.txt'),
      args: [path.join(import.meta.dirname, 'checks.py')],
      variables: { SCIM_URL: `${url}/scim/v2`, SCIM_TOKEN: token },
    });
  },
};
