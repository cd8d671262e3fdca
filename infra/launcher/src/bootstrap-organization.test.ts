import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { bootstrapOrganization } from './bootstrap-organization.ts';
import { PlatformClient } from './platform-client.ts';

/** Fakes org-access by its contract: it returns a key the first time and on a request to replace it, else null. */
class FakeOrgAccess extends PlatformClient {
  keys = 0;
  constructor() {
    super('http://unused', {});
  }
  override async call<T>(_method: string, path: string, body?: unknown): Promise<T> {
    expect(path).toBe('/internal/bootstrap');
    const fresh = this.keys === 0 || (body as { rotate_key?: boolean }).rotate_key;
    if (fresh) this.keys += 1;
    return {
      organization_id: 'o',
      workspace_id: 'w',
      api_key: fresh ? `key-${this.keys}` : null,
      administrator_setup_path: '/setup',
    } as T;
  }
}

const work = mkdtempSync(join(tmpdir(), 'runyard-bootstrap-'));
afterAll(() => rmSync(work, { recursive: true }));
const newFolder = () => mkdtempSync(join(work, 'data-'));

describe('bootstrapOrganization', () => {
  it('keeps the first key in a file only its owner can read, and uses it at later starts', async () => {
    const [orgAccess, dataDir] = [new FakeOrgAccess(), newFolder()];
    expect(await bootstrapOrganization({ dataDir, orgAccess })).toEqual({ apiKey: 'key-1', setupPath: '/setup' });
    expect(statSync(join(dataDir, 'api-key')).mode & 0o777).toBe(0o600);
    expect(await bootstrapOrganization({ dataDir, orgAccess })).toEqual({ apiKey: 'key-1', setupPath: '/setup' });
  });

  it('replaces the key when its file is missing', async () => {
    const orgAccess = new FakeOrgAccess();
    await bootstrapOrganization({ dataDir: newFolder(), orgAccess });
    expect(await bootstrapOrganization({ dataDir: newFolder(), orgAccess })).toEqual({
      apiKey: 'key-2',
      setupPath: '/setup',
    });
  });

  it('does not use the file of a database that was deleted', async () => {
    const dataDir = newFolder();
    writeFileSync(join(dataDir, 'api-key'), 'old\n');
    expect(await bootstrapOrganization({ dataDir, orgAccess: new FakeOrgAccess() })).toEqual({
      apiKey: 'key-1',
      setupPath: '/setup',
    });
    expect(readFileSync(join(dataDir, 'api-key'), 'utf8')).toBe('key-1\n');
  });
});
