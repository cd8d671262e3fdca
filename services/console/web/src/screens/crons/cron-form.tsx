import type { Assistant, Cron } from '@runyard/contracts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Fault } from '../../components/fault.tsx';
import { CheckField, SelectField, TextField } from '../../components/field.tsx';
import { JsonEditor, parseJson } from '../../components/json-editor.tsx';
import { Loading } from '../../components/loading.tsx';
import { type ReadField, SchemaField } from '../../components/schema-field.tsx';
import { PlatformError } from '../../platform/ask.ts';
import { assistantSchemasQuery } from '../../platform/assistants.ts';
import type { CronsPlace } from '../../platform/crons.ts';
import { nameOf } from '../assistants/assistant-name.ts';
import { type CronDraft, type CronField, faultsOfDraft, faultsOfRemoval, fieldOfSentence } from './cron-draft.ts';
import { ScheduleFields } from './schedule-fields.tsx';

interface CronFormProps {
  place: CronsPlace;
  start: CronDraft;
  /** The cron that is changed: its assistant and its thread stay. */
  cron?: Cron;
  assistants: readonly Assistant[];
  /** The word on its button. */
  action: string;
  onCancel(): void;
  /** Sends a draft that has no fault. What it throws is shown, and the form stays. */
  onSave(draft: CronDraft): Promise<unknown>;
}

/** The fields of a cron. */
export function CronForm({ place, start, cron, assistants, action, onCancel, onSave }: CronFormProps) {
  const [draft, setDraft] = useState(start);
  const [texts, setTexts] = useState({ metadata: print(start.metadata), more: print(start.more) });
  const [faults, setFaults] = useState(new Map<CronField, string>());
  const readInput = useRef<ReadField>(undefined);
  const schemas = useQuery(assistantSchemasQuery({ ...place, assistantId: draft.assistant }));
  const save = useMutation({ mutationFn: onSave });
  const refused = save.error instanceof PlatformError ? fieldOfSentence(save.error.message) : undefined;
  // The assistant and the thread of a cron that is changed have no field at which a fault could stand.
  const isAtField = refused !== undefined && !(cron && (refused === 'assistant' || refused === 'thread'));
  const faultOf = (field: CronField) =>
    faults.get(field) ?? (isAtField && refused === field ? (save.error as PlatformError).message : undefined);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (faults.size > 0 || save.error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [faults, save.error]);
  const change = (part: Partial<CronDraft>) => setDraft((draft) => ({ ...draft, ...part }));
  const unavailable = schemas.isLoading
    ? 'The input of the graph is being read'
    : save.isPending
      ? 'It is being saved'
      : undefined;
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (unavailable !== undefined) return;
    const input = readInput.current?.();
    const parsed = { metadata: parseJson(texts.metadata), more: parseJson(texts.more) };
    const whole = { ...draft, input: input?.value, metadata: parsed.metadata.value, more: parsed.more.value };
    const found = new Map([...(cron ? faultsOfRemoval(cron, whole) : []), ...faultsOfDraft(whole)]);
    for (const part of ['metadata', 'more'] as const) {
      const { fault } = parsed[part];
      if (fault !== undefined) found.set(part, fault);
    }
    setFaults(found);
    save.reset();
    if (input && found.size === 0) save.mutate(whole);
  };
  const jsonField = (part: 'metadata' | 'more', label: string, hint: string) => (
    <JsonEditor
      label={label}
      hint={hint}
      value={texts[part]}
      fault={faultOf(part)}
      onChange={(text) => setTexts((texts) => ({ ...texts, [part]: text }))}
      onSubmit={submit}
    />
  );
  // A cron without an input keeps none, which a form for a schema would fill in.
  const schema = cron && start.input == null ? null : (schemas.data?.input_schema ?? null);
  return (
    <form ref={form} noValidate onSubmit={submit} className="flex min-w-0 flex-col gap-3">
      {!cron && (
        <SelectField
          label="Assistant"
          value={draft.assistant}
          options={assistants.map((assistant) => ({ value: assistant.assistant_id, label: nameOf(assistant) }))}
          fault={faultOf('assistant')}
          onChange={({ target }) => change({ assistant: target.value })}
        />
      )}
      <ScheduleFields {...{ draft, faultOf }} onChange={change} />
      {!cron && (
        <TextField
          label="Thread (optional)"
          hint="The id of a thread on which all runs are made; empty: each has a new one"
          autoComplete="off"
          spellCheck={false}
          value={draft.thread}
          fault={faultOf('thread')}
          onChange={({ target }) => change({ thread: target.value })}
        />
      )}
      {draft.thread.trim() === '' && (
        <SelectField
          label="When a run has ended, its thread is"
          value={draft.onRunCompleted}
          options={[
            { value: 'delete', label: 'deleted' },
            { value: 'keep', label: 'kept' },
          ]}
          fault={faultOf('onRunCompleted')}
          onChange={({ target }) => change({ onRunCompleted: target.value as CronDraft['onRunCompleted'] })}
        />
      )}
      {schemas.isLoading ? (
        <Loading what="the input of the graph" />
      ) : (
        <SchemaField
          label="Input"
          key={draft.assistant}
          schema={schema}
          start={start.input}
          fault={faultOf('input')}
          reader={readInput}
          onSubmit={submit}
        />
      )}
      <Fault error={schemas.error} onRetry={() => void schemas.refetch()} />
      <TextField
        label="Webhook (optional)"
        hint="This URL gets each run by POST once it has ended"
        type="url"
        autoComplete="off"
        value={draft.webhook}
        fault={faultOf('webhook')}
        onChange={({ target }) => change({ webhook: target.value })}
      />
      {jsonField('metadata', 'Metadata (optional)', 'The runs have it too')}
      {jsonField(
        'more',
        'Further fields of the runs (optional)',
        'Such as context, config, interrupt_before and multitask_strategy',
      )}
      <CheckField
        label="Enabled"
        hint="Without it, nothing runs until it is resumed"
        isChecked={draft.isEnabled}
        onChange={(isEnabled) => change({ isEnabled })}
      />
      {!isAtField && <Fault error={save.error} />}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" look="first" unavailable={unavailable}>
          {action}
        </Button>
      </div>
    </form>
  );
}

function print(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2);
}
