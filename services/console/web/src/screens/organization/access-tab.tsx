import type { AccessExplanation } from '@runyard/contracts';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Empty } from '../../components/empty.tsx';
import { Fault } from '../../components/fault.tsx';
import { SelectField } from '../../components/field.tsx';
import { Loading } from '../../components/loading.tsx';
import { Time } from '../../components/time.tsx';
import { accessQuery } from '../../platform/access.ts';
import { deploymentsQuery } from '../../platform/deployments.ts';
import { memberChoiceQuery } from '../../platform/members.ts';
import { permissionsQuery } from '../../platform/roles.ts';
import { useWorkspace } from '../../session/session.ts';
import { Section } from './parts/section.tsx';

const FIRST_PERMISSION = 'runs:create';

/** Says why a person may do something, or why not, and what would change that. */
export function AccessTab() {
  const { id: workspaceId, name } = useWorkspace();
  const search = useSearch({ from: '/signed-in/w/$workspaceId/organization/access' });
  const navigate = useNavigate({ from: '/w/$workspaceId/organization/access' });
  const members = useQuery(memberChoiceQuery(workspaceId, ''));
  const permissions = useQuery(permissionsQuery(workspaceId));
  const deployments = useQuery(deploymentsQuery(workspaceId));
  const { identity, permission = FIRST_PERMISSION, resource = workspaceId } = search;
  const isOfOrganization = permissions.data?.find(({ name }) => name === permission)?.access_scope === 'organization';
  const choose = (chosen: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...chosen }), replace: true });
  const resources = useMemo(
    () => [
      { value: workspaceId, label: `Workspace ${name}` },
      ...(deployments.data ?? []).map(({ id, name }) => ({ value: id, label: `Deployment ${name}` })),
    ],
    [workspaceId, name, deployments.data],
  );
  return (
    <Section title="Why can this person do this?">
      <Fault error={members.error ?? permissions.error ?? deployments.error} />
      <div className="grid min-w-0 gap-3 md:grid-cols-3">
        <SelectField
          label="Person"
          value={identity ?? ''}
          onChange={({ target }) => choose({ identity: target.value || undefined })}
          options={[
            { value: '', label: 'Choose a person' },
            ...(members.data ?? []).map(({ id, email, full_name }) => ({
              value: id,
              label: full_name ? `${full_name} (${email})` : email,
            })),
          ]}
        />
        <SelectField
          label="May do"
          value={permission}
          onChange={({ target }) => choose({ permission: target.value })}
          options={(permissions.data ?? []).map(({ name }) => ({ value: name, label: name }))}
        />
        {isOfOrganization ? (
          <p className="self-end pb-1.5 text-faint">in the organization</p>
        ) : (
          <SelectField
            label="With"
            value={resource}
            onChange={({ target }) => choose({ resource: target.value })}
            options={resources}
          />
        )}
      </div>
      {identity === undefined ? (
        <Empty title="Choose a person">Administrators ask about everybody, others about themselves.</Empty>
      ) : (
        <Answer workspaceId={workspaceId} question={{ identity, permission, ...(!isOfOrganization && { resource }) }} />
      )}
    </Section>
  );
}

interface Question {
  identity: string;
  permission: string;
  /** The workspace, or a deployment of it; missing: the organization. */
  resource?: string;
}

function Answer({ workspaceId, question }: { workspaceId: string; question: Question }) {
  const isDeployment = question.resource !== undefined && question.resource !== workspaceId;
  const ofDeployment = isDeployment ? { workspace_id: workspaceId } : {};
  const { data, error, isPending, refetch } = useQuery(accessQuery(workspaceId, { ...question, ...ofDeployment }));
  if (isPending) return <Loading what="the answer" />;
  if (!data) return <Fault error={error} onRetry={() => void refetch()} />;
  return (
    <div aria-live="polite" className="flex min-w-0 flex-col gap-3 rounded border border-line bg-card p-4">
      <p className={`text-base font-semibold ${data.allowed ? 'text-good' : 'text-fault'}`}>
        {data.identity.name} {data.allowed ? 'may' : 'may not'} <code>{data.permission}</code>
      </p>
      <Reasons explanation={data} />
      {data.changes.length > 0 && (
        <div>
          <h3 className="font-semibold">What would change it</h3>
          <ul className="list-disc pl-5">
            {data.changes.map(({ change, description }) => (
              <li key={`${change} ${description}`}>{description}</li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

const WAYS: Record<NonNullable<AccessExplanation['via']>, string> = {
  organization_role: 'by the role in the organization',
  organization_administrator: 'as administrators of the organization have in every workspace',
  membership: 'by membership in the workspace',
  everywhere: 'in every workspace',
};

/** The origins of roles that have no name of their own. */
const SOURCES: Record<string, string> = {
  manual: 'a change by hand',
  invite: 'an invite',
  bootstrap: 'the first set-up',
  jit: 'the first sign-in',
  default: 'the role of members to whom nothing gives another',
};

function Reasons({ explanation }: { explanation: AccessExplanation }) {
  const {
    role,
    via,
    source,
    policy,
    identity,
    resource,
    depends_on_tags: dependsOnTags,
    decided_by: decided,
  } = explanation;
  return (
    <ul className="flex list-disc flex-col gap-1 pl-5">
      {identity.disabled && <li>The account is disabled.</li>}
      {role ? (
        <li>
          The role in the {resource.type} is <strong>{role.display_name}</strong>
          {via && `, ${WAYS[via]}`}.
        </li>
      ) : (
        <li>There is no role in the {resource.type}.</li>
      )}
      {source && (
        <li>
          It comes from <strong>{source.name ?? SOURCES[source.kind] ?? source.kind.replaceAll('_', ' ')}</strong>
          {source.created_at !== null && (
            <>
              {' '}
              <Time at={source.created_at} />
            </>
          )}
          .
        </li>
      )}
      {policy && (
        <li>
          {policy.effect === 'allow' ? 'Allowed' : 'Denied'} by{' '}
          {policy.policies.length === 1 ? 'the access policy' : 'the access policies'}{' '}
          <strong>{policy.policies.map(({ name }) => name).join(', ')}</strong>, by the tags of the{' '}
          {policy.resource.type.replaceAll('_', ' ')}.
        </li>
      )}
      {dependsOnTags && <li>Access policies decide otherwise about resources with certain tags.</li>}
      {decided && (
        <li>
          Decided by <code>{decided.action}</code> <Time at={decided.occurred_at} />.
        </li>
      )}
    </ul>
  );
}
