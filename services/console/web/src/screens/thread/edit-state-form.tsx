import type { ThreadState } from '@runyard/contracts';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { Fault } from '../../components/fault.tsx';
import { SelectField } from '../../components/field.tsx';
import { parseJson } from '../../components/json-editor.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { SchemaForm } from '../../components/schema-form.tsx';
import type { JsonSchema } from '../../components/schema-form-fields.ts';
import { type SchemaFormState, useSchemaForm } from '../../components/schema-form-state.ts';
import { readThreadState, type ThreadPlace, updateThreadState } from '../../platform/threads.ts';
import { useWorkspace } from '../../session/session.ts';
import { kindOf } from './namespace.ts';
import { openSubgraph } from './open-subgraph.ts';
import { explainFailure } from './run-request.ts';
import { channelsOf, differingChannels, overwriting, type StateUpdate, stateUpdate } from './state-update.ts';
import { accessOf } from './thread-access.ts';

interface EditStateFormProps {
  place: ThreadPlace;
  state: ThreadState;
  /** The node that wrote the checkpoint. */
  writer: string;
  nodes: readonly string[];
  /** Null where the state is edited as JSON only. */
  schema: JsonSchema | null;
  onForked(state: ThreadState): void;
  onClose(): void;
}

/** A state that was written, and the channels of which reducers made something else. */
interface Outcome {
  state: ThreadState;
  differing: string[];
}

/** The editor of a state. What was written in it stays while a request fails. */
export function EditStateForm({ place, state, writer, nodes, schema, onForked, onClose }: EditStateFormProps) {
  const workspace = useWorkspace();
  const before = channelsOf(state.values) ?? {};
  const form = useSchemaForm(schema, before);
  const [asNode, setAsNode] = useState(writer);
  const [outcome, setOutcome] = useState<Outcome>();
  const after = channelsOf(form.isJson ? parseJson(form.jsonText).value : form.value);
  const update = after && stateUpdate(before, after);
  const write = useMutation({
    mutationFn: (past: readonly string[]) => writeState(place, state, { after: after!, update: update!, asNode, past }),
    onSuccess: (written) => (written.differing.length === 0 ? onForked(written.state) : setOutcome(written)),
  });
  const unavailable =
    missingPermission(workspace.may('runs:update'), 'runs:update') ??
    (update && Object.keys(update.values).length === 0 ? 'Nothing is changed yet' : undefined) ??
    (write.isPending ? 'The checkpoint is being written' : undefined);
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (unavailable === undefined && form.submit() && after) write.mutate([]);
  };
  if (outcome)
    return (
      <ReducedState
        outcome={outcome}
        error={write.error}
        isPending={write.isPending}
        onKeep={() => onForked(outcome.state)}
        onReplace={() => write.mutate(outcome.differing)}
      />
    );
  return (
    <form noValidate onSubmit={submit} className="flex min-w-0 flex-col gap-3">
      <SchemaForm form={form} label="State" onSubmit={submit} />
      <SelectField
        label="Written as the node"
        hint="The nodes that follow it come next."
        value={asNode}
        options={nodes.map((value) => ({ value, label: value === '__start__' ? 'Input (__start__)' : value }))}
        onChange={({ target }) => setAsNode(target.value)}
      />
      <Changes form={form} update={update} />
      <Fault error={write.error && explainFailure(write.error)} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="first" unavailable={unavailable}>
          Fork
        </Button>
      </div>
    </form>
  );
}

/** Says which channels an edited state changes. */
function Changes({ form, update }: { form: SchemaFormState; update: StateUpdate | undefined }) {
  const names = Object.keys(update?.values ?? {});
  return (
    <div role="status" className="flex flex-col gap-1 text-xs text-faint">
      {!update && <p>{form.isJson ? 'The state is an object with a key for each channel.' : ''}</p>}
      {update && <p>{names.length === 0 ? 'No channel is changed.' : `Changes: ${names.join(', ')}.`}</p>}
      {update && update.missing.length > 0 && (
        <p className="text-wait">
          An update removes no channel: {update.missing.join(', ')} {update.missing.length === 1 ? 'stays' : 'stay'} as
          before. Write null instead.
        </p>
      )}
    </div>
  );
}

interface ReducedStateProps {
  outcome: Outcome;
  error: unknown;
  isPending: boolean;
  onKeep(): void;
  onReplace(): void;
}

/** Shows what reducers made of an edit, which can be kept, or written past them. */
function ReducedState({ outcome: { state, differing }, error, isPending, onKeep, onReplace }: ReducedStateProps) {
  const values = channelsOf(state.values) ?? {};
  const names = differing.join(', ');
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <p role="status">
        A new checkpoint was written, but not with the values that you gave: the{' '}
        {differing.length === 1 ? `reducer of ${names}` : `reducers of ${names}`} made this of them.
      </p>
      <JsonView name="written" value={Object.fromEntries(differing.map((name) => [name, values[name]]))} />
      <Fault error={error && explainFailure(error)} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onKeep}>Keep it so</Button>
        <Button look="first" onClick={onReplace} unavailable={isPending ? 'It is being written' : undefined}>
          Replace {names} instead
        </Button>
      </div>
    </div>
  );
}

interface Edit {
  after: Record<string, unknown>;
  update: StateUpdate;
  asNode: string;
  /** Channels that are written past their reducers. */
  past: readonly string[];
}

/** Writes an edited state as a new checkpoint, and reads what it has become. */
async function writeState(
  place: ThreadPlace,
  state: ThreadState,
  { after, update, asNode, past }: Edit,
): Promise<Outcome> {
  const namespace = state.checkpoint?.checkpoint_ns ?? '';
  if (kindOf(namespace) === 'step') {
    const opened = await openSubgraph(accessOf(place), state, { values: after, asNode });
    const written = await readThreadState(place, opened);
    return { state: written, differing: [] };
  }
  const checkpointId = await updateThreadState(place, {
    checkpoint: { checkpoint_id: state.checkpoint_id, ...(namespace !== '' && { checkpoint_ns: namespace }) },
    values: { ...update.values, ...overwriting(after, past) },
    as_node: asNode,
  });
  const written = await readThreadState(place, { checkpointId, namespace });
  const wanted = Object.fromEntries(Object.keys(update.values).map((name) => [name, after[name]]));
  return { state: written, differing: differingChannels(wanted, channelsOf(written.values) ?? {}) };
}
