import type { OrganizationInfo } from '@runyard/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Confirm } from '../../../components/dialog.tsx';
import { Fault } from '../../../components/fault.tsx';
import { TextField } from '../../../components/field.tsx';
import { Section } from '../../../components/section.tsx';
import { useAction } from '../../../components/use-action.ts';
import { setDefaultSsoProvision, setSsoOnly, updateOrganization } from '../../../platform/sso.ts';
import { useWorkspace } from '../../../session/session.ts';
import { AddressList } from './address-list.tsx';
import { provisioningSentence } from './provisioning-sentence.ts';

type Question = 'sso-only' | 'default';

/** The ways in which people come in: where sign-in begins, who is provisioned, and whether there is another way. */
export function SignInRules({
  organization,
  unavailable,
}: {
  organization: OrganizationInfo;
  unavailable?: string | undefined;
}) {
  const { id: workspaceId } = useWorkspace();
  const client = useQueryClient();
  const { run, isBusy, error } = useAction();
  const [question, setQuestion] = useState<Question>();
  const done = () => client.invalidateQueries({ queryKey: ['organization', workspaceId] });
  const change = (action: () => Promise<unknown>) => async () => {
    await action();
    await done();
  };
  const { sso_only: isSsoOnly, jit_provisioning_enabled: isJitOn, default_sso_provision: isDefault } = organization;
  const busy = unavailable ?? (isBusy ? 'It is being done' : undefined);
  return (
    <Section
      title="Sign-in"
      actions={
        organization.permissions.includes('organization:manage') && (
          <Link to="/w/$workspaceId/organization/audit" params={{ workspaceId }} search={{ action: 'sign_in.denied' }}>
            People who were not let in
          </Link>
        )
      }
    >
      <Fault error={error} />
      <div className="flex min-w-0 flex-col gap-4 rounded border border-line bg-card p-4">
        {organization.addresses.sso_login && (
          <AddressList addresses={[{ label: 'Sign-in begins at', value: organization.addresses.sso_login }]} />
        )}
        <SlugForm
          key={organization.sso_login_slug}
          organization={organization}
          unavailable={unavailable}
          onDone={done}
        />
        <Rule
          title={isSsoOnly ? 'Only single sign-on lets people in' : 'Other ways to sign in are allowed too'}
          about="Only an administrator who is signed in by single sign-on can require it of everybody."
          action={isSsoOnly ? 'Allow other ways' : 'Require single sign-on …'}
          unavailable={busy}
          onAction={() =>
            isSsoOnly ? void run(change(() => setSsoOnly(workspaceId, false))) : setQuestion('sso-only')
          }
        />
        <Rule
          title={provisioningSentence(organization)}
          about="Others get in by an invite, or when SCIM provisions them."
          action={isJitOn ? 'Switch provisioning off' : 'Switch provisioning on'}
          unavailable={busy}
          onAction={() =>
            void run(change(() => updateOrganization(workspaceId, { jit_provisioning_enabled: !isJitOn })))
          }
        />
        {!isDefault && (
          <Rule
            title="Another organization is the one into which sign-in provisions people"
            about="For administrators of both."
            action="Make it this one …"
            unavailable={busy}
            onAction={() => setQuestion('default')}
          />
        )}
      </div>
      {question === 'sso-only' && (
        <Confirm
          isOpen
          onClose={() => setQuestion(undefined)}
          title="Require single sign-on?"
          description="People who signed in another way may do nothing in this organization until they sign in by its identity provider. Keys and tokens stay valid."
          action="Require it"
          onConfirm={change(() => setSsoOnly(workspaceId, true))}
        />
      )}
      {question === 'default' && (
        <Confirm
          isOpen
          onClose={() => setQuestion(undefined)}
          title="Make this the default organization?"
          description="New people who sign in are provisioned into this organization, and no more into the one before."
          action="Make it the default"
          onConfirm={change(() => setDefaultSsoProvision(workspaceId))}
        />
      )}
    </Section>
  );
}

function Rule({
  title,
  about,
  action,
  unavailable,
  onAction,
}: {
  title: string;
  about: string;
  action: string;
  unavailable: string | undefined;
  onAction: () => void;
}) {
  return (
    <div className="flex min-w-0 flex-wrap items-center justify-between gap-2">
      <div className="min-w-0">
        <p className="font-medium">{title}</p>
        <p className="text-xs text-faint">{about}</p>
      </div>
      <Button unavailable={unavailable} onClick={onAction}>
        {action}
      </Button>
    </div>
  );
}

function SlugForm({
  organization,
  unavailable,
  onDone,
}: {
  organization: OrganizationInfo;
  unavailable: string | undefined;
  onDone: () => Promise<unknown>;
}) {
  const { id: workspaceId } = useWorkspace();
  const before = organization.sso_login_slug ?? '';
  const [slug, setSlug] = useState(before);
  const { run, isBusy, error } = useAction();
  const save = async (event: FormEvent) => {
    event.preventDefault();
    await run(async () => {
      await updateOrganization(workspaceId, { sso_login_slug: slug.trim() });
      await onDone();
    });
  };
  const isSame = slug.trim() === before || slug.trim() === '';
  return (
    <form onSubmit={save} className="flex min-w-0 flex-wrap items-center gap-2">
      <TextField
        label="Name in the address of sign-in"
        hint="Small letters, digits and dashes. The last five former names lead here still."
        maxLength={63}
        autoComplete="off"
        spellCheck={false}
        readOnly={unavailable !== undefined}
        value={slug}
        onChange={({ target }) => setSlug(target.value)}
      />
      <Button
        type="submit"
        unavailable={unavailable ?? (isBusy ? 'It is being saved' : isSame ? 'It is the name already' : undefined)}
      >
        Save the name
      </Button>
      <Fault error={error} />
    </form>
  );
}
