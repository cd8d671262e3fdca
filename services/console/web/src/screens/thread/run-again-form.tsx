import type { Assistant, GraphSchema, ThreadState } from '@runyard/contracts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useRef, useState } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { Fault } from '../../components/fault.tsx';
import { SelectField } from '../../components/field.tsx';
import { SchemaForm } from '../../components/schema-form.tsx';
import type { JsonSchema } from '../../components/schema-form-fields.ts';
import { useSchemaForm } from '../../components/schema-form-state.ts';
import { nodeIdsQuery } from '../../platform/assistants.ts';
import { createRun, readNestedState, type ThreadPlace } from '../../platform/threads.ts';
import { useWorkspace } from '../../session/session.ts';
import { BreakpointsField } from './breakpoints-field.tsx';
import { kindOf, nodesWithin } from './namespace.ts';
import { openSubgraph, standsAt } from './open-subgraph.ts';
import { type Breakpoints, explainFailure, type RunChoices, runRequest } from './run-request.ts';
import { accessOf } from './thread-access.ts';

interface RunAgainFormProps {
  place: ThreadPlace;
  state: ThreadState;
  assistant: Assistant;
  schemas: GraphSchema;
  /** True while a run of the thread is under way. */
  isBusy: boolean;
  onClose(): void;
}

/** The choices for a run from a checkpoint. They stay while a request fails. */
export function RunAgainForm({ place, state, assistant, schemas, isBusy, onClose }: RunAgainFormProps) {
  const workspace = useWorkspace();
  const namespace = state.checkpoint?.checkpoint_ns ?? '';
  const isEnd = state.next.length === 0;
  const [hasInput, setHasInput] = useState(isEnd && namespace === '');
  const [hasConfig, setHasConfig] = useState(false);
  const [breakpoints, setBreakpoints] = useState<Breakpoints>({ before: [], after: [] });
  const [strategy, setStrategy] = useState<RunChoices['strategy']>('enqueue');
  const nodes = useQuery(nodeIdsQuery({ ...place, assistantId: assistant.assistant_id }));
  const input = useSchemaForm(schemas.input_schema);
  const configSchema = schemaWithFields(schemas.context_schema) ?? schemaWithFields(schemas.config_schema);
  const config = useSchemaForm(configSchema, configurationOf(assistant));
  const start = useStart(place, state);
  const isWritten = kindOf(namespace) === 'step';
  const unavailable =
    missingPermission(workspace.may('runs:create'), 'runs:create') ??
    (isWritten ? missingPermission(workspace.may('runs:update'), 'runs:update') : undefined) ??
    (isEnd && !hasInput ? 'Nothing comes after this checkpoint' : undefined) ??
    (isWritten && isBusy ? 'A run of this thread is under way: wait until it has ended, or cancel it' : undefined) ??
    (start.isPending ? 'The run is being made' : undefined);
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (unavailable !== undefined) return;
    const given = hasInput ? input.submit() : { value: undefined };
    const configured = hasConfig ? config.submit() : { value: undefined };
    if (!given || !configured) return;
    start.mutate({
      assistantId: assistant.assistant_id,
      input: hasInput ? (given.value ?? {}) : undefined,
      configurable: configured.value as RunChoices['configurable'],
      breakpoints,
      strategy,
    });
  };
  return (
    <form noValidate onSubmit={submit} className="flex min-w-0 flex-col gap-3">
      {namespace === '' && (
        <fieldset className="flex flex-col gap-1">
          <legend className="text-xs font-semibold">Begin with</legend>
          <Choice
            label={
              isEnd ? 'The state as it is: nothing comes next' : `The state as it is: ${state.next.join(', ')} next`
            }
            isChosen={!hasInput}
            isDisabled={isEnd}
            onChoose={() => setHasInput(false)}
          />
          <Choice label="Another input" isChosen={hasInput} onChoose={() => setHasInput(true)} />
        </fieldset>
      )}
      {hasInput && <SchemaForm form={input} label="Input" onSubmit={submit} />}
      {configSchema && (
        <label className="flex items-center gap-1.5">
          <input type="checkbox" checked={hasConfig} onChange={({ target }) => setHasConfig(target.checked)} />
          With a configuration of its own
        </label>
      )}
      {hasConfig && <SchemaForm form={config} label="Configuration" onSubmit={submit} />}
      <BreakpointsField nodes={nodesWithin(nodes.data ?? [], '')} value={breakpoints} onChange={setBreakpoints} />
      {isBusy && isWritten && (
        <p role="status" className="text-wait">
          A run of this thread is under way. The subgraph can be opened once it has ended, or was cancelled.
        </p>
      )}
      {isBusy && !isWritten && (
        <SelectField
          label="A run of this thread is under way"
          value={strategy}
          options={[
            { value: 'enqueue', label: 'Start after it has ended' },
            ...(workspace.may('runs:update') ? [{ value: 'interrupt', label: 'Stop it, and start at once' }] : []),
          ]}
          onChange={({ target }) => setStrategy(target.value as RunChoices['strategy'])}
        />
      )}
      <Fault error={start.error && explainFailure(start.error)} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="first" unavailable={unavailable}>
          Run
        </Button>
      </div>
    </form>
  );
}

interface ChoiceProps {
  label: string;
  isChosen: boolean;
  isDisabled?: boolean;
  onChoose(): void;
}

function Choice({ label, isChosen, isDisabled = false, onChoose }: ChoiceProps) {
  return (
    <label className={`flex items-center gap-1.5 ${isDisabled ? 'text-faint' : ''}`}>
      <input type="radio" name="begin" checked={isChosen} disabled={isDisabled} onChange={onChoose} />
      <span className="min-w-0 break-words">{label}</span>
    </label>
  );
}

/** Starts a run from a checkpoint, and leads to it. */
function useStart(place: ThreadPlace, state: ThreadState) {
  const navigate = useNavigate();
  const isOpened = useRef(false);
  return useMutation({
    mutationFn: async (choices: Omit<RunChoices, 'checkpoint'>) => {
      const namespace = state.checkpoint?.checkpoint_ns ?? '';
      if (kindOf(namespace) !== 'step') {
        const checkpoint = namespace === '' ? { checkpoint_id: state.checkpoint_id } : state.checkpoint;
        return createRun(place, runRequest({ ...choices, checkpoint }));
      }
      // A second attempt at the run finds the subgraph opened by the first.
      if (!isOpened.current && !standsAt(await readNestedState(place), state))
        await openSubgraph(accessOf(place), state);
      isOpened.current = true;
      return createRun(place, runRequest({ ...choices, checkpoint: undefined }));
    },
    onSuccess: ({ run_id: runId }) =>
      navigate({
        to: '/w/$workspaceId/deployments/$deploymentId/threads/$threadId/runs/$runId',
        params: { ...place, runId },
        search: {},
      }),
  });
}

function schemaWithFields(schema: JsonSchema | null): JsonSchema | null {
  const properties = schema?.properties;
  return typeof properties === 'object' && properties !== null && Object.keys(properties).length > 0 ? schema : null;
}

/** Returns the configuration that an assistant gives its runs. */
function configurationOf({ context, config }: Assistant): Record<string, unknown> {
  return { ...config?.configurable, ...(context as Record<string, unknown> | undefined) };
}
