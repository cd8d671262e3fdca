import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { PRINCIPAL_HEADER, WORKSPACE_PERMISSIONS } from '@runyard/contracts';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { type DeploymentOptions, startDeployment, type TestDeployment } from './deployment.ts';
import { shareDeployment } from './shared-deployment.ts';

const PROJECT_DIR = fileURLToPath(new URL('../../../e2e/projects/guarded', import.meta.url));

export interface GuardedDeployment extends TestDeployment {
  /** Returns what the gateway sends for somebody of the platform with these permissions. */
  platformToken(permissions?: readonly string[]): Promise<Record<string, string>>;
}

/** The key that encrypts what guarded deployments store. */
export const GUARDED_AES_KEY = 'guarded-projects-need-one-of-32c';

/** The key with which somebody of the platform comes. */
export const KEY_ID = '00000000-0000-4000-8000-000000000002';

/** The headers of a user of the project `guarded`. */
export const userHeaders = (name: string): Record<string, string> => ({ authorization: `Bearer ${name}` });

/** Starts a deployment whose own code says who its users are, and beside them callers of the platform. */
export async function startGuardedDeployment(env: Record<string, string> = {}): Promise<GuardedDeployment> {
  return withPlatform(await startDeployment(await optionsFor(env)));
}

/** Returns a deployment like that of `startGuardedDeployment`, shared as `shareDeployment` shares one. */
export async function shareGuardedDeployment(): Promise<GuardedDeployment> {
  // The schema of this graph is not read off its source, which takes seconds.
  const LANGSERVE_GRAPHS = JSON.stringify({ echo: '../probe/graphs/carried-schemas.ts:echo' });
  return withPlatform(await shareDeployment(await optionsFor({ LANGSERVE_GRAPHS, LOG_JSON: 'true' })));
}

let platform: ReturnType<typeof publishKey> | undefined;

/** Returns the platform whose key deployments of this process trust. */
function requirePlatform() {
  platform ??= publishKey();
  return platform;
}

async function publishKey() {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519' });
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'EdDSA', use: 'sig' };
  const keys = createServer((_req, res) => res.end(JSON.stringify({ keys: [jwk] })));
  await new Promise<void>((resolve) => keys.listen(0, '127.0.0.1', resolve));
  keys.unref();
  return { privateKey, jwksUrl: `http://127.0.0.1:${(keys.address() as AddressInfo).port}/` };
}

async function optionsFor(env: Record<string, string>): Promise<DeploymentOptions> {
  return {
    env: {
      PROJECT_DIR,
      LANGGRAPH_AES_KEY: GUARDED_AES_KEY,
      RUNYARD_AUTH: '',
      PLATFORM_JWKS_URL: (await requirePlatform()).jwksUrl,
      DEPLOYMENT_ID: 'guarded',
      ...env,
    },
  };
}

function withPlatform(deployment: TestDeployment): GuardedDeployment {
  return {
    ...deployment,
    async platformToken(permissions = WORKSPACE_PERMISSIONS) {
      const { privateKey } = await requirePlatform();
      const organization_id = '00000000-0000-4000-8000-000000000001';
      const claims = { organization_id, kind: 'service_key', key_id: KEY_ID, organization_role: 'user', permissions };
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'EdDSA', kid: 'k1' })
        .setSubject('key-1')
        .setAudience('deployment:guarded')
        .setExpirationTime('1h')
        .sign(privateKey);
      return { [PRINCIPAL_HEADER]: token };
    },
  };
}
