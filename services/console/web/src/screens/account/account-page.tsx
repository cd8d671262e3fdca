import { useQuery } from '@tanstack/react-query';
import { Fault } from '../../components/fault.tsx';
import { Page } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { personQuery } from '../../session/session.ts';
import { PersonalTokens } from '../organization/keys/personal-tokens.tsx';
import { MyOrganizations } from './my-organizations.tsx';
import { Sessions } from './sessions.tsx';

/** The person: where they are signed in, their tokens, and their organizations. */
export function AccountPage() {
  const { data: person, error, refetch } = useQuery(personQuery);
  return (
    <Page title="Account">
      <Fault error={error} onRetry={() => void refetch()} />
      <Section title="Who I am" about="The password, passkeys and the second factor are changed where you sign in.">
        {person && (
          <dl className="flex flex-wrap gap-x-8 gap-y-2">
            <Fact name="Name">{person.full_name ?? 'not known'}</Fact>
            <Fact name="Address">{person.email}</Fact>
            <Fact name="Signed in by">
              {person.is_sso ? 'single sign-on' : 'password, passkey or a link of the operator'}
            </Fact>
          </dl>
        )}
      </Section>
      <Sessions />
      <PersonalTokens />
      <MyOrganizations />
    </Page>
  );
}

function Fact({ name, children }: { name: string; children: string }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-faint">{name}</dt>
      <dd className="[overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}
