import type { OrganizationInfo, Role, SsoSettings, SsoSettingsCreate } from '@runyard/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { Fault } from '../../../components/fault.tsx';
import { CheckField, SelectField, TextField } from '../../../components/field.tsx';
import { useAction, useRequest } from '../../../components/use-action.ts';
import { createSsoProvider, updateSsoProvider } from '../../../platform/sso.ts';
import { useWorkspace } from '../../../session/session.ts';
import { AddressList } from './address-list.tsx';
import { OidcFields, SamlFields } from './connection-fields.tsx';
import { ClaimFields, GroupFields, PeopleFields } from './people-fields.tsx';
import { samlAddressesOf } from './provider-addresses.ts';
import { changeOf, creationOf, formOf, type ProviderForm } from './provider-form.ts';

const FIRST_ROLE = 'WORKSPACE_VIEWER';

/** Adds an identity provider, or changes one. */
export function ProviderDialog({
  provider,
  organization,
  roles,
  onClose,
}: {
  provider?: SsoSettings;
  organization: OrganizationInfo;
  roles: readonly Role[];
  onClose: () => void;
}) {
  const { id: workspaceId } = useWorkspace();
  const client = useQueryClient();
  const [form, setForm] = useState(() =>
    formOf(provider, { roleId: roles.find(({ name }) => name === FIRST_ROLE)?.id ?? '', workspaceId }),
  );
  const set = (change: Partial<ProviderForm>) => setForm((before) => ({ ...before, ...change }));
  const { run, isBusy, error } = useAction();
  const requestFor = useRequest<SsoSettingsCreate>();
  const save = async () => {
    if (provider) await updateSsoProvider(workspaceId, provider.id, changeOf(provider, form));
    else {
      const { body, key } = requestFor(form, () => creationOf(form));
      await createSsoProvider(workspaceId, body, key);
    }
    await Promise.all([
      client.invalidateQueries({ queryKey: ['sso', workspaceId] }),
      client.invalidateQueries({ queryKey: ['organization', workspaceId] }),
    ]);
    onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run(save);
  };
  const isFixed = provider?.is_from_environment ?? false;
  return (
    <Dialog isOpen onClose={onClose} title={provider ? `Change ${provider.display_name}` : 'New identity provider'}>
      <form onSubmit={submit} className="flex flex-col gap-3">
        {!provider && (
          <SelectField
            label="Protocol"
            value={form.protocol}
            onChange={({ target }) => set({ protocol: target.value as ProviderForm['protocol'] })}
            options={[
              { value: 'oidc', label: 'OpenID Connect' },
              { value: 'saml', label: 'SAML 2.0' },
            ]}
          />
        )}
        <TextField
          label="Name"
          hint="People read it where they choose how to sign in"
          required={provider !== undefined}
          maxLength={200}
          autoComplete="off"
          value={form.name}
          onChange={({ target }) => set({ name: target.value })}
        />
        {form.protocol === 'oidc' ? (
          <OidcFields form={form} set={set} isKnown={provider !== undefined} isFixed={isFixed} />
        ) : (
          <>
            {!provider && <AddressList addresses={samlAddressesOf(organization.addresses)} />}
            <SamlFields form={form} set={set} />
          </>
        )}
        {provider?.protocol === 'oidc' && !provider.has_own_callback && (
          <CheckField
            label="Move to a callback URL of its own"
            hint={`Register ${provider.callback_url}/${provider.id} at the provider first`}
            isChecked={form.movesToOwnCallback}
            onChange={(movesToOwnCallback) => set({ movesToOwnCallback })}
          />
        )}
        <PeopleFields form={form} set={set} roles={roles} isDefault={organization.default_sso_provision} />
        <GroupFields form={form} set={set} separator={organization.scim_group_name_separator} />
        <ClaimFields form={form} set={set} />
        <CheckField
          label="People may sign in by it"
          hint="It can be tested while this is off"
          isChecked={form.isEnabled}
          onChange={(isEnabled) => set({ isEnabled })}
        />
        {provider?.is_enabled && !form.isEnabled && (
          <p className="text-wait">Sessions that began at this provider end at once.</p>
        )}
        {form.protocol === 'oidc' && !provider && (
          <p className="text-faint">The callback URL to register at the provider is shown after this.</p>
        )}
        <Fault error={error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="first" unavailable={isBusy ? 'It is being saved' : undefined}>
            {provider ? 'Save' : 'Add'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
