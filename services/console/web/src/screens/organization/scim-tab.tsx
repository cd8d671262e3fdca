import { useNavigate, useSearch } from '@tanstack/react-router';
import { Loading } from '../../components/loading.tsx';
import { SearchForm } from '../../components/search-form.tsx';
import { Section } from '../../components/section.tsx';
import { useOrganization } from './parts/use-organization.ts';
import { ProvisionedGroups } from './scim/provisioned-groups.tsx';
import { ProvisionedUsers } from './scim/provisioned-users.tsx';
import { ScimTokens } from './scim/tokens.tsx';
import { AddressList } from './sso/address-list.tsx';

/** Provisioning by SCIM: the way in for identity providers, and what they keep here. */
export function ScimTab() {
  const { organization } = useOrganization();
  const { q, users, groups } = useSearch({ from: '/signed-in/w/$workspaceId/organization/scim' });
  const navigate = useNavigate({ from: '/w/$workspaceId/organization/scim' });
  const change = (search: { q?: string | undefined; users?: number | undefined; groups?: number | undefined }) =>
    void navigate({ search: (before) => ({ ...before, ...search }), resetScroll: false });
  if (!organization) return <Loading what="provisioning" />;
  return (
    <>
      <Section
        title="Provisioning by SCIM 2.0"
        about="An identity provider makes people members, gives them roles by groups, and switches them off. Enter the base URL and a token there."
      >
        <AddressList addresses={[{ label: 'Base URL', value: organization.addresses.scim }]} />
      </Section>
      <ScimTokens />
      <SearchForm
        label="Name or address of users and groups"
        q={q}
        onSearch={(q) => change({ q, users: undefined, groups: undefined })}
      />
      <ProvisionedUsers q={q} page={users} onPage={(users) => change({ users })} />
      <ProvisionedGroups q={q} page={groups} onPage={(groups) => change({ groups })} />
    </>
  );
}
