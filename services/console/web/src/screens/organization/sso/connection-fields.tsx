import { type ReactNode, useId } from 'react';
import { CheckField, SelectField, TextField } from '../../../components/field.tsx';
import type { ProviderForm } from './provider-form.ts';

interface ConnectionProps {
  form: ProviderForm;
  set: (change: Partial<ProviderForm>) => void;
  /** True for a provider that exists. */
  isKnown: boolean;
  /** True: the variables of the installation decide on the connection. */
  isFixed: boolean;
}

/** The connection to a provider of OpenID Connect. */
export function OidcFields({ form, set, isKnown, isFixed }: ConnectionProps) {
  return (
    <>
      {isFixed && <p className="text-faint">The variables of the installation decide on the connection.</p>}
      <TextField
        label="Issuer"
        hint="As the provider names it: https://… without /.well-known at its end"
        type="url"
        required
        disabled={isFixed}
        autoComplete="off"
        spellCheck={false}
        value={form.issuerUrl}
        onChange={({ target }) => set({ issuerUrl: target.value })}
      />
      <TextField
        label="Client ID"
        required
        disabled={isFixed}
        autoComplete="off"
        spellCheck={false}
        value={form.clientId}
        onChange={({ target }) => set({ clientId: target.value })}
      />
      <TextField
        label="Client secret"
        type="password"
        required={!isKnown}
        disabled={isFixed}
        hint={isKnown ? 'Empty: it stays as it is. A new issuer needs it again.' : 'Stored encrypted, and never shown'}
        autoComplete="new-password"
        value={form.clientSecret}
        onChange={({ target }) => set({ clientSecret: target.value })}
      />
      <TextField
        label="Scopes"
        hint="Empty: openid email profile"
        disabled={isFixed}
        autoComplete="off"
        spellCheck={false}
        value={form.scopes}
        onChange={({ target }) => set({ scopes: target.value })}
      />
      <CheckField
        label="Trust its addresses"
        hint="They count as verified also where the provider does not say so. Only for one that lets nobody choose an address."
        isChecked={form.isEmailTrusted}
        onChange={(isEmailTrusted) => set({ isEmailTrusted })}
      />
      <CheckField
        label="Sign out at the provider too"
        isChecked={form.logsOutAtProvider}
        disabled={isFixed}
        onChange={(logsOutAtProvider) => set({ logsOutAtProvider })}
      />
    </>
  );
}

/** The connection to a provider of SAML. */
export function SamlFields({ form, set }: Pick<ConnectionProps, 'form' | 'set'>) {
  return (
    <>
      <SelectField
        label="Metadata"
        value={form.metadataFrom}
        onChange={({ target }) => set({ metadataFrom: target.value as ProviderForm['metadataFrom'] })}
        options={[
          { value: 'url', label: 'From an address, read daily' },
          { value: 'xml', label: 'As text' },
        ]}
      />
      {form.metadataFrom === 'url' ? (
        <TextField
          label="Address of the metadata"
          type="url"
          required
          autoComplete="off"
          spellCheck={false}
          value={form.metadataUrl}
          onChange={({ target }) => set({ metadataUrl: target.value })}
        />
      ) : (
        <XmlField value={form.metadataXml} onChange={(metadataXml) => set({ metadataXml })} />
      )}
      <CheckField
        label="Responses must be signed too"
        hint="Assertions always are"
        isChecked={form.isResponseSigned}
        onChange={(isResponseSigned) => set({ isResponseSigned })}
      />
      <CheckField
        label="Sign-in may begin at the provider"
        hint="Any page can then sign a browser in with an answer that is somebody else's"
        isChecked={form.idpInitiated}
        onChange={(idpInitiated) => set({ idpInitiated })}
      />
    </>
  );
}

function XmlField({ value, onChange }: { value: string; onChange: (value: string) => void }): ReactNode {
  const id = useId();
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="text-xs font-semibold">
        Metadata in XML
      </label>
      <textarea
        id={id}
        required
        rows={6}
        spellCheck={false}
        maxLength={500_000}
        value={value}
        onChange={({ target }) => onChange(target.value)}
        className="w-full rounded border border-edge bg-card px-2 py-1.5 font-mono text-xs"
      />
    </div>
  );
}
