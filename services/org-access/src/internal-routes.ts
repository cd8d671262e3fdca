import { bootstrap, getSigningKeys, verifyKey } from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { BootstrapService } from './bootstrap/bootstrap-service.ts';
import type { KeyVerification } from './tokens/key-verification.ts';
import type { SigningKeys } from './tokens/signing-keys.ts';

/** What the other services of the platform ask. */
export function internalRoutes(parts: {
  verification: KeyVerification;
  bootstrap: BootstrapService;
  signingKeys: SigningKeys;
}): BoundOperation[] {
  return [
    bind(verifyKey, async ({ body }) => ok(await parts.verification.verify(body))),
    bind(bootstrap, async ({ body }) => ok(await parts.bootstrap.ensure(body))),
    bind(getSigningKeys, async () =>
      ok({ keys: parts.signingKeys.published() }, { 'cache-control': 'public, max-age=60' }),
    ),
  ];
}
