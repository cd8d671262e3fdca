import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Fault } from '../../components/fault.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { JsonEditor, parseJson } from '../../components/json-editor.tsx';
import { Loading } from '../../components/loading.tsx';
import { type ReadField, SchemaField } from '../../components/schema-field.tsx';
import { PlatformError } from '../../platform/ask.ts';
import { type AssistantPlace, assistantSchemasQuery } from '../../platform/assistants.ts';
import {
  type AssistantDraft,
  configurationSchema,
  type DraftField,
  faultsOfDraft,
  fieldOfSentence,
} from './assistant-request.ts';

interface AssistantFormProps {
  place: Omit<AssistantPlace, 'assistantId'>;
  start: AssistantDraft;
  graphs: readonly string[];
  /** The word on its button. */
  action: string;
  metadataHint?: string;
  onCancel(): void;
  /** Sends a draft that has no fault. What it throws is shown, and the form stays. */
  onSave(draft: AssistantDraft): Promise<unknown>;
}

/** The fields of an assistant. */
export function AssistantForm({ place, start, graphs, action, metadataHint, onCancel, onSave }: AssistantFormProps) {
  const [draft, setDraft] = useState(start);
  const [texts, setTexts] = useState({ config: print(start.config), metadata: print(start.metadata) });
  const [faults, setFaults] = useState(new Map<DraftField, string>());
  const readContext = useRef<ReadField>(undefined);
  const schemas = useQuery(assistantSchemasQuery({ ...place, assistantId: draft.graph }));
  const save = useMutation({ mutationFn: onSave });
  const refused = save.error instanceof PlatformError ? fieldOfSentence(save.error.message) : undefined;
  const faultOf = (field: DraftField) =>
    faults.get(field) ?? (refused === field ? (save.error as PlatformError).message : undefined);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (faults.size > 0 || save.error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [faults, save.error]);
  const change = (part: Partial<AssistantDraft>) => setDraft({ ...draft, ...part });
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (save.isPending || schemas.isPending) return;
    const context = readContext.current?.();
    const parsed = { config: parseJson(texts.config), metadata: parseJson(texts.metadata) };
    const whole = { ...draft, context: context?.value, config: parsed.config.value, metadata: parsed.metadata.value };
    const found = faultsOfDraft(whole);
    for (const part of ['config', 'metadata'] as const) {
      const { fault } = parsed[part];
      if (fault !== undefined) found.set(part, fault);
    }
    setFaults(found);
    if (context && found.size === 0) save.mutate(whole);
  };
  const options = [...new Set([draft.graph, ...graphs])].sort().map((value) => ({ value, label: value }));
  const jsonField = (part: 'config' | 'metadata', label: string, hint?: string) => (
    <JsonEditor
      label={label}
      hint={hint}
      value={texts[part]}
      fault={faultOf(part)}
      onChange={(text) => setTexts((texts) => ({ ...texts, [part]: text }))}
      onSubmit={submit}
    />
  );
  return (
    <form ref={form} noValidate onSubmit={submit} className="flex min-w-0 flex-col gap-3">
      <SelectField
        label="Graph"
        value={draft.graph}
        options={options}
        fault={faultOf('graph')}
        onChange={({ target }) => change({ graph: target.value })}
      />
      <TextField
        label="Name"
        required
        autoComplete="off"
        value={draft.name}
        fault={faultOf('name')}
        onChange={({ target }) => change({ name: target.value })}
      />
      <TextField
        label="Description (optional)"
        autoComplete="off"
        value={draft.description}
        fault={faultOf('description')}
        onChange={({ target }) => change({ description: target.value })}
      />
      {schemas.isPending ? (
        <Loading what="the configuration of the graph" />
      ) : (
        <SchemaField
          label="Context"
          key={draft.graph}
          schema={configurationSchema(schemas.data)}
          start={start.context}
          fault={faultOf('context')}
          reader={readContext}
          onSubmit={submit}
        />
      )}
      <Fault error={schemas.error} onRetry={() => void schemas.refetch()} />
      {jsonField('config', 'Config of runs (optional)', 'Such as tags and recursion_limit')}
      {jsonField('metadata', 'Metadata (optional)', metadataHint)}
      {refused === undefined && <Fault error={save.error} />}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button
          type="submit"
          look="first"
          unavailable={save.isPending ? 'It is being saved' : schemas.isPending ? 'Its form is being read' : undefined}
        >
          {action}
        </Button>
      </div>
    </form>
  );
}

function print(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2);
}
