import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { startServiceInProcess, type TestService } from '@runyard/test-kit';
import {
  type FakeServer,
  INTERNAL_TOKEN,
  readRequestBody,
  sendJson,
  startFakeServer,
} from '@runyard/test-kit/fake-platform';
import { service } from '../src/service.ts';

export const CONSOLE_URL = 'https://console.example';
export const PUBLIC_URL = 'https://platform.example';
/** The token of a session that org-access knows. */
export const SESSION = `rys_${'s'.repeat(43)}`;

/** A console with stand-ins of what it asks. */
export interface TestConsole {
  url: string;
  /** Answers what is asked of the gateway. */
  gateway: { handle: (req: IncomingMessage, res: ServerResponse) => void };
  /** Codes that org-access has given to browsers, each with its challenge. */
  codes: Map<string, string>;
  /** The number of access tokens that it has made. */
  accessTokens(): number;
  endedSessions: string[];
  output(): string;
  close(): Promise<void>;
}

export async function startConsole(): Promise<TestConsole> {
  const codes = new Map<string, string>();
  const endedSessions: string[] = [];
  let accessTokens = 0;
  const orgAccess = await startFakeServer(async (req, res) => {
    const body = JSON.parse((await readRequestBody(req)).toString()) as Record<string, string>;
    const isInternal = req.headers.authorization?.endsWith(INTERNAL_TOKEN);
    if (!isInternal) return sendJson(res, 401, { detail: 'no' });
    if (req.url === '/internal/console/sessions') {
      const challenge = codes.get(body.code!);
      codes.delete(body.code!);
      const given = createHash('sha256').update(body.code_verifier!).digest('base64url');
      if (challenge !== given) return sendJson(res, 400, { detail: 'This code does not work (any more)' });
      return sendJson(res, 200, { token: SESSION, expires_at: new Date(Date.now() + 3_600_000).toISOString() });
    }
    if (body.token !== SESSION || endedSessions.includes(body.token)) return sendJson(res, 401, { detail: 'ended' });
    if (req.url === '/internal/console/access-tokens') {
      accessTokens += 1;
      return sendJson(res, 200, { access_token: `access-${accessTokens}`, expires_in: 300 });
    }
    endedSessions.push(body.token);
    sendJson(res, 200, { logout_url: 'https://login.example/out' });
  });
  const gateway: TestConsole['gateway'] = { handle: (_req, res) => sendJson(res, 404, { detail: 'Not Found' }) };
  const gatewayServer: FakeServer = await startFakeServer((req, res) => gateway.handle(req, res));
  const running: TestService = await startServiceInProcess(service, {
    env: { CONSOLE_URL, PUBLIC_URL, GATEWAY_URL: gatewayServer.url, ORG_ACCESS_URL: orgAccess.url },
    secrets: { INTERNAL_TOKEN },
  });
  return {
    url: running.url,
    gateway,
    codes,
    accessTokens: () => accessTokens,
    endedSessions,
    output: running.output,
    async close() {
      await running.stop();
      await Promise.all([gatewayServer.close(), orgAccess.close()]);
    },
  };
}

/** Headers of a script of the console's own pages, in a browser that is signed in. */
export const OWN_SCRIPT = {
  cookie: `__Host-runyard_console=${SESSION}`,
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'cors',
  'sec-fetch-dest': 'empty',
};
/** The same, of a request that may change something. */
export const OWN_WRITE = { ...OWN_SCRIPT, origin: CONSOLE_URL };
