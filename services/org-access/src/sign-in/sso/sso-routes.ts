import { getSsoSettingsBySlug, lookUpSsoEmail, ssoSettingsOperations, testSsoSettings } from '@runyard/contracts';
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, bind, created, ok } from '@runyard/service-kit';
import type { SsoProviderTester } from './checks/provider-tester.ts';
import type { SsoLookupService } from './lookup-service.ts';
import type { SsoProviderService } from './provider-service.ts';

/** Serves the settings of single sign-on with their test, and the search for a provider before sign-in. */
export function ssoRoutes({
  providers,
  tester,
  lookups,
  keys,
}: {
  providers: SsoProviderService;
  tester: SsoProviderTester;
  lookups: SsoLookupService;
  keys: IdempotencyKeys;
}): BoundOperation[] {
  return [
    ...ssoSettingsOperations.flatMap((operations) => [
      bind(operations.list, async ({ caller }) => ok(await providers.list(caller))),
      bindCreation(keys, operations.create, created, ({ caller, body }, keyed) =>
        providers.create(caller, body, keyed),
      ),
      bind(operations.update, async ({ caller, params, body }) =>
        ok(await providers.update(caller, params.sso_provider_id.toLowerCase(), body)),
      ),
      bind(operations.delete, async ({ caller, params }) =>
        ok(await providers.delete(caller, params.sso_provider_id.toLowerCase())),
      ),
    ]),
    ...testSsoSettings.map((operation) =>
      bind(operation, async ({ caller, params }) =>
        ok(await tester.test(caller, params.sso_provider_id.toLowerCase())),
      ),
    ),
    bind(getSsoSettingsBySlug, async ({ params }) => ok(await lookups.bySlug(params.sso_login_slug))),
    bind(lookUpSsoEmail, async ({ body }) => ok(await lookups.byEmail(body.email))),
  ];
}
