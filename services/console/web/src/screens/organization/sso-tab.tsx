import type { SsoSettings } from '@runyard/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { Empty } from '../../components/empty.tsx';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { Section } from '../../components/section.tsx';
import { rolesQuery } from '../../platform/roles.ts';
import { deleteSsoProvider, ssoProvidersQuery } from '../../platform/sso.ts';
import { useOrganization } from './parts/use-organization.ts';
import { ProviderCard } from './sso/provider-card.tsx';
import { ProviderDialog } from './sso/provider-dialog.tsx';
import { SignInRules } from './sso/sign-in-rules.tsx';

type Doing = { what: 'add' } | { what: 'change' | 'delete'; provider: SsoSettings };

/** Single sign-on: the identity providers of the organization, and the rules of signing in. */
export function SsoTab() {
  const { workspaceId, organization, isAdministrator, missingAdministrator } = useOrganization();
  const client = useQueryClient();
  const providers = useQuery({ ...ssoProvidersQuery(workspaceId), enabled: isAdministrator });
  const { data: roles, ...rolesRead } = useQuery(rolesQuery(workspaceId));
  const [doing, setDoing] = useState<Doing>();
  const stop = () => setDoing(undefined);
  const remove = async ({ id }: SsoSettings) => {
    await deleteSsoProvider(workspaceId, id);
    await client.invalidateQueries({ queryKey: ['sso', workspaceId] });
  };
  if (rolesRead.error && !roles) return <Fault error={rolesRead.error} onRetry={() => void rolesRead.refetch()} />;
  if (!organization || !roles) return <Loading what="single sign-on" />;
  return (
    <>
      <Section
        title="Identity providers"
        about="People sign in at the account of their company. Add a provider, enter its addresses there, test it, and sign in."
        actions={
          <Button look="first" unavailable={missingAdministrator} onClick={() => setDoing({ what: 'add' })}>
            New identity provider …
          </Button>
        }
      >
        <Fault error={providers.error} onRetry={() => void providers.refetch()} />
        {isAdministrator && providers.isPending && <Loading what="the identity providers" />}
        {!isAdministrator && (
          <Empty title="Only an Organization Admin sees the identity providers">
            Ask one of them to set single sign-on up.
          </Empty>
        )}
        {providers.data?.length === 0 && (
          <Empty title="There is no identity provider">
            Add one by OpenID Connect, or by SAML 2.0. Until then people sign in with accounts of this platform.
          </Empty>
        )}
        {providers.data?.map((provider) => (
          <ProviderCard
            key={provider.id}
            provider={provider}
            organization={organization}
            roles={roles}
            onChange={() => setDoing({ what: 'change', provider })}
            onDelete={() => setDoing({ what: 'delete', provider })}
          />
        ))}
      </Section>
      <SignInRules organization={organization} unavailable={missingAdministrator} />
      {doing && doing.what !== 'delete' && (
        <ProviderDialog
          {...(doing.what === 'change' && { provider: doing.provider })}
          organization={organization}
          roles={roles}
          onClose={stop}
        />
      )}
      {doing?.what === 'delete' && (
        <Confirm
          isOpen
          onClose={stop}
          title={`Delete ${doing.provider.display_name}?`}
          description="Sessions that began there end at once, and nobody signs in by it. The people keep what they were given. It cannot be undone."
          action="Delete"
          isDangerous
          typed={doing.provider.display_name}
          onConfirm={() => remove(doing.provider)}
        />
      )}
    </>
  );
}
