import { afterAll, beforeAll, expect, it } from 'vitest';
import { ENTRA, OKTA, type RecordedRequest } from './data/scim-sequences.ts';
import { TestOrgAccess } from './support/platform.ts';
import { ScimClient } from './support/scim-client.ts';

let platform: TestOrgAccess;
let scim: ScimClient;
beforeAll(async () => {
  platform = await TestOrgAccess.start();
  scim = await ScimClient.create(platform);
});
afterAll(() => platform?.close());

it.each<[string, readonly RecordedRequest[]]>([
  ['Entra ID', ENTRA],
  ['Okta', OKTA],
])('the documented requests of %s are answered as it expects', async (_, requests) => {
  const ids: Record<string, string> = {};
  const fill = <T>(value: T): T => {
    const text = JSON.stringify(value ?? null);
    return JSON.parse(text.replaceAll(/(?:\{|%7B)(user|group)(?:\}|%7D)/g, (_match, name: string) => ids[name]!)) as T;
  };
  for (const { what, method, path, body, status, answer } of requests) {
    const got = await scim.send(method, fill(path), body === undefined ? undefined : fill(body));
    expect([what, got.status, got.body]).toEqual([what, status, answer ? expect.anything() : got.body]);
    if (answer) expect(got.body).toMatchObject(fill(answer));
    if (got.status === 201) ids[path === '/Users' ? 'user' : 'group'] = got.body.id;
  }
});
