import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestOrgAccess } from './support/platform.ts';
import { SeverableLink } from './support/severable-link.ts';

let platform: TestOrgAccess;
let link: SeverableLink;
beforeAll(async () => {
  platform = await TestOrgAccess.start({
    reach: async (url) => {
      link = new SeverableLink(url);
      await link.mend();
      return link.url;
    },
  });
});
afterAll(async () => {
  await platform.close();
  await link.cut();
});

describe('while Postgres is away', () => {
  it('org-access lives and says so, and works again once it is back', async () => {
    const key = platform.bootstrap.api_key;
    const ready = () => fetch(`${platform.service.url}/ok?check_db=1`).then((answer) => answer.status);
    await link.cut();
    expect(await platform.verify(key)).toMatchObject({ status: 503, body: { detail: expect.any(String) } });
    expect(await platform.internal('/internal/bootstrap', {})).toMatchObject({ status: 503 });
    expect(await ready()).toBe(503);
    expect((await fetch(`${platform.service.url}/ok`)).status).toBe(200);

    await link.mend();
    await waitFor(async () => (await ready()) === 200, { what: 'being ready again' });
    expect((await platform.verify(key)).status).toBe(200);
  });
});
