import { confirmSsoEmail, getSsoEmailVerificationStatus, sendSsoEmailVerification } from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { AddressVerification } from './address-verification.ts';
import type { NamedLogin, SsoEmailVerification } from './sso-email-verification.ts';

/** Serves the confirmation of addresses of people who sign in by identity providers. */
export function ssoEmailVerificationRoutes(
  verification: SsoEmailVerification,
  addresses: AddressVerification,
): BoundOperation[] {
  return [
    bind(sendSsoEmailVerification, async ({ body }) => {
      await verification.send(namedIn(body));
      return { status: 202, body: {} };
    }),
    bind(getSsoEmailVerificationStatus, async ({ body }) => {
      const confirmedAt = await verification.findConfirmation(namedIn(body));
      return ok({ email_confirmed_at: confirmedAt?.toISOString() ?? null });
    }),
    bind(confirmSsoEmail, async ({ body }) => {
      await addresses.verify(body.token);
      return ok({});
    }),
  ];
}

function namedIn(body: { email: string; saml_provider_id: string }): NamedLogin {
  return { email: body.email, providerId: body.saml_provider_id.toLowerCase() };
}
