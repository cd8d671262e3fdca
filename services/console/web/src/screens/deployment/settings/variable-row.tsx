import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { TextField } from '../../../components/field.tsx';
import type { VariableDraft } from './variable-changes.ts';

export interface VariableRowProps {
  draft: VariableDraft;
  fault: string | undefined;
  onChange: (draft: VariableDraft) => void;
  onRemove: () => void;
}

/** A variable in the form. A value is hidden until somebody asks for it. */
export function VariableRow({ draft, fault, onChange, onRemove }: VariableRowProps) {
  const called = draft.name || 'the new variable';
  const typing = { autoComplete: 'off', spellCheck: false };
  return (
    <fieldset
      aria-label={`Variable ${called}`}
      className="grid items-end gap-2 md:grid-cols-[minmax(0,1fr)_minmax(0,2fr)_auto]"
    >
      <TextField
        label="Name"
        value={draft.name}
        fault={fault}
        onChange={({ target }) => onChange({ ...draft, name: target.value })}
        {...typing}
      />
      {draft.kind === 'value' ? (
        <Value
          called={called}
          value={draft.value}
          isNew={draft.key.startsWith('new-')}
          onChange={(value) => onChange({ ...draft, value })}
        />
      ) : (
        <div className="grid gap-2 sm:grid-cols-2">
          <TextField
            label="Secret"
            value={draft.secret_name}
            onChange={({ target }) => onChange({ ...draft, secret_name: target.value })}
            {...typing}
          />
          <TextField
            label="Key in it"
            value={draft.secret_key}
            onChange={({ target }) => onChange({ ...draft, secret_key: target.value })}
            {...typing}
          />
        </div>
      )}
      <Button className="justify-self-start" onClick={onRemove} aria-label={`Remove ${called}`}>
        Remove
      </Button>
    </fieldset>
  );
}

interface ValueProps {
  called: string;
  value: string;
  isNew: boolean;
  onChange: (value: string) => void;
}

function Value({ called, value, isNew, onChange }: ValueProps) {
  const [isShown, setIsShown] = useState(isNew);
  return (
    <div className="flex items-end gap-2">
      <div className="min-w-0 flex-1">
        <TextField
          label="Value"
          type={isShown ? 'text' : 'password'}
          value={value}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => onChange(target.value)}
        />
      </div>
      <Button aria-pressed={isShown} aria-label={`Show the value of ${called}`} onClick={() => setIsShown(!isShown)}>
        {isShown ? 'Hide' : 'Show'}
      </Button>
    </div>
  );
}
