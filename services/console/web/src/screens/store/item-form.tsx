import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Fault, faultText } from '../../components/fault.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { JsonEditor, parseJson } from '../../components/json-editor.tsx';
import { faultsOfItem, fieldOfSentence, type ItemDraft, type ItemField } from './item-request.ts';

interface ItemFormProps {
  start: ItemDraft;
  /** True for an item that is there: its namespace and its key stay. */
  isNamed: boolean;
  onCancel(): void;
  /** Sends a draft that has no fault. What it throws is shown, and the form stays. */
  onSave(draft: ItemDraft): Promise<unknown>;
}

/** The fields of an item. */
export function ItemForm({ start, isNamed, onCancel, onSave }: ItemFormProps) {
  const [draft, setDraft] = useState(start);
  const [text, setText] = useState(() => JSON.stringify(start.value, null, 2));
  const [faults, setFaults] = useState(new Map<ItemField, string>());
  const save = useMutation({ mutationFn: onSave });
  const sentence = save.error ? faultText(save.error) : '';
  const refused = fieldOfSentence(sentence);
  // An item that is there has no field at which a fault of its name could stand.
  const isAtField = refused !== undefined && !(isNamed && (refused === 'namespace' || refused === 'key'));
  const faultOf = (field: ItemField) => faults.get(field) ?? (isAtField && refused === field ? sentence : undefined);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (faults.size > 0 || save.error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [faults, save.error]);
  const field = (name: 'namespace' | 'key' | 'ttl' | 'paths') => ({
    value: draft[name],
    fault: faultOf(name),
    autoComplete: 'off',
    spellCheck: false,
    onChange: ({ target }: { target: HTMLInputElement }) => setDraft({ ...draft, [name]: target.value }),
  });
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (save.isPending) return;
    const { value, fault } = parseJson(text);
    const whole = { ...draft, value };
    const found = faultsOfItem(whole);
    if (fault !== undefined) found.set('value', fault);
    setFaults(found);
    save.reset();
    if (found.size === 0) save.mutate(whole);
  };
  return (
    <form ref={form} noValidate onSubmit={submit} className="flex min-w-0 flex-col gap-3">
      {!isNamed && (
        <>
          <TextField
            label="Namespace"
            hint="Its labels, with periods between them: users.ada"
            {...field('namespace')}
          />
          <TextField label="Key" {...field('key')} />
        </>
      )}
      <JsonEditor label="Value" value={text} fault={faultOf('value')} onChange={setText} onSubmit={submit} />
      <TextField
        label="Minutes to live (optional)"
        hint="-1: for ever. Empty: as the project says (store.ttl.default_ttl), or for ever"
        inputMode="decimal"
        {...field('ttl')}
      />
      <SelectField
        label="Found by the meaning of"
        value={draft.embedding}
        fault={faultOf('embedding')}
        options={[
          { value: 'project', label: 'the fields that the project says (store.index)' },
          { value: 'paths', label: 'other fields' },
          { value: 'nothing', label: 'nothing' },
        ]}
        onChange={({ target }) => setDraft({ ...draft, embedding: target.value as ItemDraft['embedding'] })}
      />
      {draft.embedding === 'paths' && (
        <TextField
          label="Fields"
          hint="Paths of the value, with commas between them: title, parts[*].text"
          {...field('paths')}
        />
      )}
      {!isAtField && <Fault error={save.error} />}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" look="first" unavailable={save.isPending ? 'It is being saved' : undefined}>
          {isNamed ? 'Save' : 'Create'}
        </Button>
      </div>
    </form>
  );
}
