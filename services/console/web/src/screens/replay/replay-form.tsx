import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { Fault } from '../../components/fault.tsx';
import { SelectField } from '../../components/field.tsx';
import { assistantsQuery } from '../../platform/assistants.ts';
import { canRun, deploymentsQuery } from '../../platform/deployments.ts';
import { useWorkspace } from '../../session/session.ts';
import { assistantOptions, suggestAssistant } from './assistant-options.ts';
import type { ReplayPlan } from './plan-replay.ts';
import { ownConfigurable, type ShadowChoices } from './shadow-request.ts';
import { canMove, startShadow } from './start-shadow.ts';
import { SwitchedJson, useSwitchedJson } from './switched-json.tsx';

/** The choices for a shadow. They stay while a request fails. */
export function ReplayForm({ plan }: { plan: ReplayPlan }) {
  const { place, run, start, versions } = plan;
  const workspace = useWorkspace();
  const [deploymentId, setDeploymentId] = useState(place.deploymentId);
  const [chosen, setChosen] = useState<string>();
  const input = useSwitchedJson(run.kwargs.input);
  const config = useSwitchedJson(ownConfigurable(run, versions));
  const graph = String(run.metadata.graph_id ?? '');
  const isElsewhere = deploymentId !== place.deploymentId;
  const all = useQuery(assistantsQuery(place.workspaceId, deploymentId));
  // The assistants of another deployment run it only where they have the same graph.
  const assistants = all.data?.filter(({ graph_id: each }) => !isElsewhere || each === graph);
  const options = assistantOptions(assistants ?? [], { graph, ofRun: run.assistant_id });
  const assistantId = options.some(({ value }) => value === chosen)
    ? chosen
    : suggestAssistant(assistants ?? [], { graph, ofRun: run.assistant_id });
  const replay = useReplay(plan);
  const unavailable =
    missingPermission(workspace.may('runs:create'), 'runs:create') ??
    (all.isPending ? 'The assistants are being read' : undefined) ??
    (assistantId === undefined ? `The deployment has no assistant of the graph ${graph}` : undefined) ??
    (replay.isPending ? 'The shadow is being made' : undefined);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const [given, configured] = [input.submit(), config.submit()];
    if (unavailable !== undefined || assistantId === undefined || !given || !configured) return;
    const choices: ShadowChoices = {
      assistantId,
      ...(given.isOn && { input: { value: given.value ?? null } }),
      ...(configured.isOn && { configurable: (configured.value ?? {}) as Record<string, unknown> }),
    };
    replay.mutate({ choices, deploymentId });
  };
  return (
    <form noValidate onSubmit={submit} aria-label="Replay" className="flex max-w-2xl min-w-0 flex-col gap-3">
      <DeploymentField plan={plan} value={deploymentId} onChange={setDeploymentId} />
      <SelectField
        label="Assistant"
        value={assistantId ?? ''}
        options={assistantId === undefined ? [{ value: '', label: '–' }] : options}
        onChange={({ target }) => setChosen(target.value)}
      />
      <Fault error={all.error} onRetry={() => void all.refetch()} />
      {run.kwargs.command == null ? (
        <SwitchedJson label="With another input" name="Input" field={input} />
      ) : (
        <p className="text-faint">
          The run began with a command, such as an answer to a question: the shadow begins with the same one.
        </p>
      )}
      <SwitchedJson
        label="With a configuration of its own"
        name="Configuration"
        hint="Key by key over that of the assistant"
        field={config}
      />
      {start.type === 'empty' && (
        <p className="text-faint">
          {run.kwargs.temporary === true
            ? 'It was a run without a thread: nothing is kept of its state and its steps, which the shadow will have.'
            : 'The run was the first of its thread, and began with nothing.'}
        </p>
      )}
      <Fault error={replay.error} />
      <div>
        <Button type="submit" look="first" unavailable={unavailable}>
          Replay in shadow
        </Button>
      </div>
    </form>
  );
}

interface DeploymentFieldProps {
  plan: ReplayPlan;
  value: string;
  onChange(deploymentId: string): void;
}

/** The choice among deployments; nothing where there is one only. */
function DeploymentField({ plan, value, onChange }: DeploymentFieldProps) {
  const { place, start } = plan;
  const { data } = useQuery(deploymentsQuery(place.workspaceId));
  const deployments = (data ?? []).filter((each) => each.id === place.deploymentId || canRun(each));
  if (deployments.length < 2) return null;
  if (!canMove(plan))
    return (
      <p className="text-faint">
        The run went on in the middle of its graph, where it cannot be taken to another deployment: it is replayed in
        its own.
      </p>
    );
  return (
    <SelectField
      label="Deployment"
      hint={
        start.type === 'empty' ? undefined : 'Another one gets the state that the run began with, and not the history.'
      }
      value={value}
      options={deployments.map(({ id, name }) => ({ value: id, label: name }))}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

/** Makes a shadow, and leads to it. */
function useReplay(plan: ReplayPlan) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const { place } = plan;
  return useMutation({
    mutationFn: ({ choices, deploymentId }: { choices: ShadowChoices; deploymentId: string }) =>
      startShadow(plan, choices, deploymentId),
    onSuccess: async ({ deploymentId, threadId, runId }) => {
      void queryClient.invalidateQueries({ queryKey: ['runs', place.workspaceId] });
      await navigate({
        to: '/w/$workspaceId/deployments/$deploymentId/threads/$threadId/runs/$runId/replay',
        params: place,
        search: {
          thread: threadId,
          run: runId,
          ...(deploymentId !== place.deploymentId && { deployment: deploymentId }),
        },
      });
    },
  });
}
