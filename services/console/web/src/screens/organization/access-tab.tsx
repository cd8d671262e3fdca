import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Empty } from '../../components/empty.tsx';
import { Fault } from '../../components/fault.tsx';
import { SelectField } from '../../components/field.tsx';
import { SearchForm } from '../../components/search-form.tsx';
import { Section } from '../../components/section.tsx';
import { accessQuery } from '../../platform/access.ts';
import { deploymentsQuery } from '../../platform/deployments.ts';
import { permissionsQuery } from '../../platform/roles.ts';
import { useWorkspace } from '../../session/session.ts';
import { Answer } from './access/answer.tsx';
import { questionOf, withChosen } from './access/choices.ts';
import { useIdentities } from './access/use-identities.ts';
import { useWorkspaces } from './parts/fields.tsx';

const FIRST_PERMISSION = 'runs:create';

/** Says why a person or a program may do something, or why not, and what would change that. */
export function AccessTab() {
  const { id: workspaceId } = useWorkspace();
  const workspaces = useWorkspaces();
  const search = useSearch({ from: '/signed-in/w/$workspaceId/organization/access' });
  const navigate = useNavigate({ from: '/w/$workspaceId/organization/access' });
  const { q, identity, key, permission = FIRST_PERMISSION, resource = workspaceId } = search;
  const choices = useIdentities(workspaceId, { identity, q });
  const permissions = useQuery(permissionsQuery(workspaceId));
  const deployments = useQuery(deploymentsQuery(workspaceId));
  const isOfOrganization = permissions.data?.find(({ name }) => name === permission)?.access_scope === 'organization';
  const choose = (chosen: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...chosen }), replace: true });
  const resources = [
    ...workspaces.map(({ id, display_name: name }) => ({ value: id, label: `Workspace ${name}` })),
    ...(deployments.data ?? []).map(({ id, name }) => ({ value: id, label: `Deployment ${name}` })),
  ];
  const place = { workspaceId, workspaceIds: workspaces.map(({ id }) => id), isOfOrganization };
  const question = identity === undefined ? undefined : questionOf({ identity, key, permission, resource }, place);
  const answer = useQuery(accessQuery(workspaceId, question));
  const chosen =
    identity === undefined ? undefined : { value: identity, label: answer.data?.identity.name ?? identity };
  return (
    <Section title="Why can this person or program do this?">
      <Fault error={choices.error ?? permissions.error ?? deployments.error} />
      <SearchForm label="Name or address of people and programs" q={q} onSearch={(q) => choose({ q })} />
      <div className="grid min-w-0 gap-3 md:grid-cols-2">
        <SelectField
          label="Person or service account"
          value={identity ?? ''}
          onChange={({ target }) => choose({ identity: target.value || undefined, key: undefined })}
          options={[{ value: '', label: 'Choose one' }, ...withChosen(choices.identities, chosen)]}
        />
        <SelectField
          label="By"
          value={key ?? ''}
          disabled={choices.keys.length === 0}
          hint={choices.isPersonal ? 'Tokens of other people are theirs alone' : undefined}
          onChange={({ target }) => choose({ key: target.value || undefined })}
          options={[{ value: '', label: 'No key in particular' }, ...choices.keys]}
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
      {question === undefined ? (
        <Empty title="Choose a person or a service account">
          Administrators ask about everybody, others about themselves.
        </Empty>
      ) : (
        <Answer answer={answer} isByKey={key !== undefined} />
      )}
    </Section>
  );
}
