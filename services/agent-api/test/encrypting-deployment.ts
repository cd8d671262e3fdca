import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@langchain/langgraph-sdk';
import { startDeployment, type TestDeployment } from './deployment.ts';
import { userHeaders } from './guarded-deployment.ts';

const PROJECT_DIR = fileURLToPath(new URL('../../../e2e/projects/encrypting', import.meta.url));

export interface EncryptingDeployment extends TestDeployment {
  /** Says what the project's handlers do from now on for tenants; `{}` lets them work. */
  order(orders: Record<string, string>): Promise<void>;
  /** Returns the client of a user, of this process or another. */
  clientOf(name: string, url?: string): Client;
  /** Returns the beginnings of all lines in its database, its Redis and its logs in which a text can be read. */
  leaksOf(text: string): Promise<string[]>;
}

/** Starts a deployment, with a real worker, of a project with handlers in `encryption.path`. */
export async function startEncryptingDeployment(env: Record<string, string> = {}): Promise<EncryptingDeployment> {
  const folder = await mkdtemp(join(tmpdir(), 'encrypting-deployment-'));
  const ordersFile = join(folder, 'orders.json');
  const order: EncryptingDeployment['order'] = (orders) => writeFile(ordersFile, JSON.stringify(orders));
  await order({});
  const PROJECT_ENV = JSON.stringify({ KEY_SERVICE_ORDERS: ordersFile });
  const deployment = await startDeployment({ worker: 'real', env: { PROJECT_DIR, PROJECT_ENV, ...env } });
  return {
    ...deployment,
    order,
    clientOf: (name, apiUrl = deployment.url) =>
      new Client({ apiUrl, apiKey: null, defaultHeaders: userHeaders(name), callerOptions: { maxRetries: 0 } }),
    async leaksOf(text) {
      const forms = [text, Buffer.from(text).toString('hex')];
      const lines = (await deployment.contents()).split('\n');
      return lines.filter((line) => forms.some((form) => line.includes(form))).map((line) => line.slice(0, 500));
    },
    async close() {
      await deployment.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
