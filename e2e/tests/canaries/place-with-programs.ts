import { DEVICE_GRANT } from '@runyard/contracts';
import type { Caller } from './caller.ts';
import { PageVisitor } from './page-visitor.ts';

const CLIENT = { client_id: 'langsmith-cli' };
const DEVICE_PAGE = '/auth/device';

/** Hands over the secrets of a program that a person allows to act for them, each step also with a fault. */
export async function placeSecretsOfPrograms(caller: Caller, owner: PageVisitor): Promise<void> {
  const { canaries } = caller;
  const post = (path: string, fields: Record<string, string>) =>
    caller.ask('POST', path, {
      key: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ ...CLIENT, ...fields }).toString(),
    });
  const redeem = (device_code: string) => post('/oauth/token', { grant_type: DEVICE_GRANT, device_code });
  const refresh = (refresh_token: string) => post('/oauth/token', { grant_type: 'refresh_token', refresh_token });

  const { body: asked } = await post('/oauth/device/code', {});
  canaries.add('the code of a program', asked.device_code);
  canaries.add('the code that a person enters for a program', asked.user_code);
  await redeem(canaries.make('a wrong code of a program'));
  const entry = await owner.visit(`${DEVICE_PAGE}?user_code=${asked.user_code}`);
  await owner.visit(DEVICE_PAGE, { user_code: canaries.make('a wrong code that a person enters') }, entry.text);
  const question = await owner.visit(DEVICE_PAGE, { user_code: asked.user_code }, entry.text);
  await owner.visit(DEVICE_PAGE, { answer: 'accept' }, question.text);

  const { body: first } = await redeem(asked.device_code);
  const { body: second } = await refresh(first.refresh_token);
  for (const [which, tokens] of Object.entries({ first, second })) {
    canaries.add(`the ${which} refresh token of a program`, tokens.refresh_token);
    const token = canaries.add(`the ${which} access token of a program`, tokens.access_token);
    await caller.ask('GET', '/auth/public', { key: null, headers: { authorization: `Bearer ${token}` } });
  }
  await refresh(`ryr_${canaries.make('a wrong refresh token')}`);
  await post('/oauth/revoke', { token: second.refresh_token });
  await refresh(second.refresh_token);
  await placeSecretsOfMcpClients(caller, owner);
}

/** Hands over the secrets of an MCP client, which is refused each time. */
async function placeSecretsOfMcpClients(caller: Caller, owner: PageVisitor): Promise<void> {
  const { canaries } = caller;
  const redirect_uri = 'http://127.0.0.1:33418/callback';
  const { client_id } = await caller.make('POST', '/oauth/register', { redirect_uris: [redirect_uri] });
  const asked = {
    ...{ response_type: 'code', client_id, redirect_uri, code_challenge_method: 'S256' },
    code_challenge: 'A'.repeat(43),
    resource: 'https://elsewhere.example/mcp',
    state: canaries.make('the state of an MCP client'),
  };
  await owner.visit(`/auth/authorize?${new URLSearchParams(asked)}`);
  await caller.ask('POST', '/oauth/token', {
    key: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      ...{ grant_type: 'authorization_code', client_id, redirect_uri },
      code: canaries.make('a wrong code of an MCP client'),
      code_verifier: canaries.make('a wrong verifier of an MCP client').padEnd(43, '-'),
    }).toString(),
  });
}

/** Hands over challenges for passkeys, and proofs that are not good. */
export async function placeSecretsOfPasskeys(caller: Caller, owner: PageVisitor, password: string): Promise<void> {
  const { canaries } = caller;
  const headers = { cookie: owner.cookieHeader, 'sec-fetch-site': 'same-origin' };
  const ask = (path: string, body: object) =>
    caller.ask('POST', `/api/v1/passkeys${path}`, { key: null, headers, body });
  await ask('/options', { current_password: canaries.make('a wrong password for a passkey') });
  const { body: options } = await ask('/options', { current_password: password });
  const challenge = canaries.add('the challenge for a new passkey', options.challenge);
  const attestationObject = canaries.make('the statement of an authenticator');
  await ask('', { name: 'Canary', credential: answerOf('webauthn.create', challenge, { attestationObject }) });

  const stranger = new PageVisitor();
  await stranger.visit('/auth/passkey');
  const asked = canaries.add('the challenge for a sign-in with a passkey', stranger.cookies.at(-1)!);
  const signature = canaries.make('the signature of a passkey');
  const proof = answerOf('webauthn.get', asked, { authenticatorData: 'AAAA', signature });
  await stranger.visit('/auth/passkey', { credential: JSON.stringify(proof) });
}

function answerOf(type: string, challenge: string, response: object): object {
  const clientData = JSON.stringify({ type, challenge, origin: 'http://localhost', crossOrigin: false });
  const id = Buffer.from('canary').toString('base64url');
  const clientDataJSON = Buffer.from(clientData).toString('base64url');
  return { id, rawId: id, type: 'public-key', response: { clientDataJSON, ...response } };
}
