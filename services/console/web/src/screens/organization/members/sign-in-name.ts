import type { LinkedLoginMethod } from '@runyard/contracts';

const NAMES: Record<string, string> = {
  email: 'password or passkey',
  'supabase:sso': 'single sign-on (SAML)',
  'custom-oidc': 'single sign-on (OIDC)',
};

/** Returns how a way to sign in is called. */
export function signInName({ provider }: Pick<LinkedLoginMethod, 'provider'>): string {
  return NAMES[provider] ?? provider;
}
