import { Outlet, useParams } from '@tanstack/react-router';
import { Suspense } from 'react';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { Page } from '../../components/page.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { useOrganization } from './parts/use-organization.ts';

/** The organization of the workspace: its people, their rights, and how they come in. */
export function OrganizationPage() {
  const { workspaceId } = useParams({ strict: false }) as { workspaceId: string };
  const { organization, error, retry } = useOrganization();
  const params = { workspaceId };
  return (
    <Page title={organization ? `Organization ${organization.display_name}` : 'Organization'}>
      <Fault error={error} onRetry={retry} />
      <Tabs
        label="Parts of the organization"
        tabs={[
          { label: 'Members', link: { to: '/w/$workspaceId/organization', params }, isExact: true },
          { label: 'Roles', link: { to: '/w/$workspaceId/organization/roles', params } },
          { label: 'Keys', link: { to: '/w/$workspaceId/organization/keys', params } },
          { label: 'SSO', link: { to: '/w/$workspaceId/organization/sso', params } },
          { label: 'SCIM', link: { to: '/w/$workspaceId/organization/scim', params } },
          { label: 'Audit', link: { to: '/w/$workspaceId/organization/audit', params } },
          { label: 'Access', link: { to: '/w/$workspaceId/organization/access', params } },
        ]}
      />
      <Suspense fallback={<Loading what="it" />}>
        <Outlet />
      </Suspense>
    </Page>
  );
}
