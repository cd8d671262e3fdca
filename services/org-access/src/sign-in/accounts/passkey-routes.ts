import { passkeyOperations } from '@runyard/contracts';
import {
  type BoundOperation,
  bind,
  created,
  ForbiddenError,
  NotFoundError,
  noContent,
  ok,
  type Principal,
} from '@runyard/service-kit';
import type { LiveSessions } from '../sessions/live-sessions.ts';
import type { AccountOwner } from './account-service.ts';
import type { PasskeyService } from './passkey-service.ts';

/** Serves people their own passkeys. */
export function passkeyRoutes(passkeys: PasskeyService, sessions: LiveSessions): BoundOperation[] {
  const { listPasskeys, beginPasskey, addPasskey, renamePasskey, removePasskey } = passkeyOperations;
  const owner = (caller: Principal) => requireOwner(sessions, caller);
  return [
    bind(listPasskeys, async ({ caller }) => ok(await passkeys.list((await owner(caller)).personId))),
    bind(beginPasskey, async ({ caller, body }) =>
      ok(await passkeys.begin(await owner(caller), body.current_password), { 'cache-control': 'no-store' }),
    ),
    bind(addPasskey, async ({ caller, body }) =>
      created(await passkeys.add(await owner(caller), body.name.trim(), body.credential), {
        'cache-control': 'no-store',
      }),
    ),
    bind(renamePasskey, async ({ caller, params, body }) => {
      const renamed = await passkeys.rename(await owner(caller), params.passkey_id.toLowerCase(), body.name.trim());
      if (!renamed) throw passkeyNotFound();
      return ok(renamed);
    }),
    bind(removePasskey, async ({ caller, params, body }) => {
      const id = params.passkey_id.toLowerCase();
      if (!(await passkeys.remove(await owner(caller), id, body.current_password))) throw passkeyNotFound();
      return noContent();
    }),
  ];
}

/** Returns the person of a session that may change the account: one of an identity provider or a program may not. */
async function requireOwner(sessions: LiveSessions, caller: Principal): Promise<AccountOwner> {
  const { session } = await sessions.findById(caller.sessionId!);
  if (session.ssoOrganizationId !== null)
    throw new ForbiddenError('Sign in with your own account to change it: this session is of an identity provider', {
      code: 'own_account_required',
    });
  if (session.clientId !== null)
    throw new ForbiddenError('Sign in with a browser to change your account: this session is of a program', {
      code: 'own_account_required',
    });
  return { personId: session.personId, sessionId: session.id };
}

function passkeyNotFound(): NotFoundError {
  return new NotFoundError('Passkey not found', { code: 'passkey_not_found' });
}
