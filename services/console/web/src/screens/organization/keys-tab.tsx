import { PersonalTokens } from './keys/personal-tokens.tsx';
import { ServiceAccounts } from './keys/service-accounts.tsx';
import { ServiceKeys } from './keys/service-keys.tsx';

/** The keys with which programs act, and one's own tokens. */
export function KeysTab() {
  return (
    <>
      <ServiceKeys />
      <ServiceAccounts />
      <PersonalTokens />
    </>
  );
}
