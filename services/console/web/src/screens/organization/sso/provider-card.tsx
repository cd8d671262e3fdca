import type { OrganizationInfo, Role, SsoSettings, SsoTestResult } from '@runyard/contracts';
import { useId, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Fault } from '../../../components/fault.tsx';
import { useAction } from '../../../components/use-action.ts';
import { testSsoProvider } from '../../../platform/sso.ts';
import { useWorkspace } from '../../../session/session.ts';
import { useWorkspaces } from '../parts/fields.tsx';
import { AddressList } from './address-list.tsx';
import { addressesOf, domainRecordsOf } from './provider-addresses.ts';
import { TestResult } from './test-result.tsx';

/** An identity provider: its settings, what it has to be told, and whether it works. */
export function ProviderCard({
  provider,
  organization,
  roles,
  onChange,
  onDelete,
}: {
  provider: SsoSettings;
  organization: OrganizationInfo;
  roles: readonly Role[];
  onChange: () => void;
  onDelete: () => void;
}) {
  const { id: workspaceId } = useWorkspace();
  const titleId = useId();
  const { run, isBusy, error } = useAction();
  // A result is about the settings that were tested: it goes when they change.
  const [tested, setTested] = useState<{ result: SsoTestResult; updatedAt: string }>();
  const result = tested?.updatedAt === provider.updated_at ? tested.result : undefined;
  const test = async () =>
    setTested({ result: await testSsoProvider(workspaceId, provider.id), updatedAt: provider.updated_at });
  const { display_name: name, is_enabled: isEnabled, is_from_environment: isFromEnvironment } = provider;
  return (
    <article aria-labelledby={titleId} className="flex min-w-0 flex-col gap-4 rounded border border-line bg-card p-4">
      <header className="flex flex-wrap items-start justify-between gap-2">
        <div className="min-w-0">
          <h3 id={titleId} className="font-semibold break-words">
            {name}
          </h3>
          <p className={isEnabled ? 'text-good' : 'text-faint'}>
            {isEnabled ? '✓ people may sign in by it' : '○ switched off: nobody signs in by it'}
          </p>
        </div>
        <div className="flex flex-wrap gap-2">
          <Button
            unavailable={isBusy ? 'The test is running' : undefined}
            onClick={() => void run(test)}
            aria-label={`Test ${name}`}
          >
            {isBusy ? 'Testing …' : 'Test'}
          </Button>
          <Button onClick={onChange} aria-label={`Change ${name}`}>
            Change …
          </Button>
          <Button
            look="danger"
            unavailable={isFromEnvironment ? 'It comes from the variables of the installation' : undefined}
            onClick={onDelete}
            aria-label={`Delete ${name}`}
          >
            Delete …
          </Button>
        </div>
      </header>
      <Fault error={error} />
      <div role="status">{result && <TestResult result={result} />}</div>
      <Facts provider={provider} roles={roles} />
      <div className="flex min-w-0 flex-col gap-2">
        <h4 className="text-xs font-semibold text-faint">Enter at the provider</h4>
        <AddressList addresses={addressesOf(provider)} />
      </div>
      <DomainRecords records={domainRecordsOf(organization, provider.email_domains)} />
    </article>
  );
}

function DomainRecords({ records }: { records: ReturnType<typeof domainRecordsOf> }) {
  if (records.length === 0) return null;
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <h4 className="text-xs font-semibold text-faint">Keep in the DNS of the domains</h4>
      <AddressList addresses={records} />
    </div>
  );
}

function Facts({ provider, roles }: { provider: SsoSettings; roles: readonly Role[] }) {
  const workspaces = useWorkspaces();
  const workspaceNames = provider.default_workspace_ids.map(
    (id) => workspaces.find((each) => each.id === id)?.display_name ?? 'another workspace',
  );
  const role = roles.find(({ id }) => id === provider.default_workspace_role_id)?.display_name ?? 'a role';
  const facts: [string, string][] = [
    ['Protocol', provider.protocol === 'oidc' ? 'OpenID Connect' : 'SAML 2.0'],
    ...connectionOf(provider),
    ['Sends people with addresses of', provider.email_domains.join(', ') || 'no domain in particular'],
    ['New people become', `${role} in ${workspaceNames.join(', ')}`],
    ['Groups', groupsOf(provider)],
    ...(provider.is_from_environment
      ? ([['Set up by', 'the variables of the installation']] as [string, string][])
      : []),
  ];
  return (
    <dl className="grid min-w-0 gap-x-4 gap-y-1 md:grid-cols-[max-content_1fr]">
      {facts.map(([label, value]) => (
        <div key={label} className="contents max-md:block">
          <dt className="text-faint">{label}</dt>
          <dd className="min-w-0 [overflow-wrap:anywhere]">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function connectionOf(provider: SsoSettings): [string, string][] {
  if (provider.protocol === 'saml')
    return [['Metadata', provider.metadata_url ? `${provider.metadata_url}, read daily` : 'given as text']];
  return [
    ['Issuer', provider.issuer_url ?? ''],
    ['Client ID', provider.client_id ?? ''],
  ];
}

function groupsOf(provider: SsoSettings): string {
  if (!provider.sso_groups_enabled) return 'give no roles';
  const when = provider.sso_groups_role_sync_enabled ? 'at each sign-in' : 'at the first sign-in';
  const required = provider.sso_groups_required ? '; nobody gets in without one' : '';
  const field = provider.sso_groups_claim_field;
  const claim = provider.attribute_mapping?.keys[field]?.name ?? field;
  return `in "${claim}" give roles by their names ${when}${required}`;
}
