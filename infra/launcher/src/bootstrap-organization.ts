import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BootstrapResponse } from '@runyard/contracts';
import { writePrivateFile } from '@runyard/local-infra';
import type { PlatformClient } from './platform-client.ts';

/**
 * Creates the default organization and an administrator key for it. org-access keeps only the key's hash, so the key
 * itself stays in a private file; where that file is missing, the key is replaced. `setupPath` is the page on which the
 * first administrator makes an account; null when there is one.
 */
export async function bootstrapOrganization(options: {
  dataDir: string;
  orgAccess: PlatformClient;
}): Promise<{ apiKey: string; setupPath: string | null }> {
  const keyFile = join(options.dataDir, 'api-key');
  const kept = (await readFile(keyFile, 'utf8').catch(() => '')).trim();
  const bootstrap = (body: object) => options.orgAccess.call<BootstrapResponse>('POST', '/internal/bootstrap', body);
  const first = await bootstrap({});
  // org-access returns a key only when the organization is new; one in the file then belongs to a deleted database.
  const apiKey = first.api_key ?? (kept || (await bootstrap({ rotate_key: true })).api_key);
  if (!apiKey) throw new Error('org-access gave no key though one was asked for');
  if (apiKey !== kept) await writePrivateFile(keyFile, `${apiKey}\n`);
  return { apiKey, setupPath: first.administrator_setup_path };
}
