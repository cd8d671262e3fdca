import type { ThreadState } from '@runyard/contracts';
import { useQuery } from '@tanstack/react-query';
import { Dialog } from '../../components/dialog.tsx';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { takesMessages } from '../../components/messages-content.ts';
import type { JsonSchema } from '../../components/schema-form-fields.ts';
import { assistantSchemasQuery, nodeIdsQuery, subgraphsQuery } from '../../platform/assistants.ts';
import { type ThreadPlace, threadQuery, threadStateQuery } from '../../platform/threads.ts';
import { EditStateForm } from './edit-state-form.tsx';
import { kindOf, namespacesTo, nodeOf, nodesWithin } from './namespace.ts';
import { writerOf } from './run-request.ts';

export interface EditStateProps {
  place: ThreadPlace;
  /** The checkpoint whose state is edited; undefined: the dialog is closed. */
  state: ThreadState | undefined;
  /** Called with the checkpoint that was made. */
  onForked(state: ThreadState): void;
  onClose(): void;
}

/** Edits the state at a checkpoint: what is saved is a new checkpoint on a branch of its own. */
export function EditStateDialog({ place, state, onForked, onClose }: EditStateProps) {
  return (
    <Dialog
      isOpen={state !== undefined}
      onClose={onClose}
      title="Edit and fork"
      description={state && explainEdit(state.checkpoint?.checkpoint_ns ?? '')}
    >
      {state && <Content {...{ place, state, onForked, onClose }} />}
    </Dialog>
  );
}

function Content({ place, state, onForked, onClose }: EditStateProps & { state: ThreadState }) {
  const namespace = state.checkpoint?.checkpoint_ns ?? '';
  const thread = useQuery(threadQuery(place));
  // The default assistant of a graph goes by its name.
  const assistantId = String(thread.data?.metadata.graph_id ?? state.metadata?.graph_id ?? '');
  const isKnown = assistantId !== '';
  const graph = { ...place, assistantId };
  const nodes = useQuery({ ...nodeIdsQuery(graph), enabled: isKnown });
  const own = useQuery({ ...assistantSchemasQuery(graph), enabled: isKnown && namespace === '' });
  const inner = useQuery({ ...subgraphsQuery(graph), enabled: isKnown && namespace !== '' });
  const parent = useQuery({
    ...threadStateQuery(place, state.parent_checkpoint_id ?? undefined, namespace),
    enabled: state.parent_checkpoint_id !== null,
  });
  const queries = [nodes, own, inner, parent];
  // Without schema and nodes a state can be edited all the same.
  if (queries.some(({ isLoading }) => isLoading)) return <Loading what="the graph" />;
  const path = namespacesTo(namespace).slice(1).map(nodeOf).join('|');
  const schema = (namespace === '' ? own.data : inner.data?.[path])?.state_schema ?? null;
  const writer = writerOf(state, parent.data);
  return (
    <>
      <Fault error={nodes.error ?? own.error ?? inner.error} onRetry={() => queries.map((query) => query.refetch())} />
      <EditStateForm
        {...{ place, state, writer, onForked, onClose }}
        nodes={[...new Set(['__start__', ...nodesWithin(nodes.data ?? [], namespace), writer])]}
        schema={formSchema(schema)}
      />
    </>
  );
}

/** Returns the schema to make a form of: a state may lack what it has at the end, and messages are edited as JSON. */
function formSchema(schema: JsonSchema | null): JsonSchema | null {
  if (schema === null || takesMessages(schema) || typeof schema.properties !== 'object') return null;
  return { ...schema, required: [] };
}

function explainEdit(namespace: string): string {
  const kept = 'What follows this checkpoint now stays as it is.';
  if (kindOf(namespace) !== 'step')
    return (
      'The changed channels are written as an update of the node below, in a new checkpoint after this one. An update ' +
      `passes through the reducer of its channel: one that appends adds to what is there. ${kept}`
    );
  const step = nodeOf(namespacesTo(namespace)[1]!);
  return (
    `The checkpoint before ${step} is copied, and the state below is written into the copy, as the node below. The ` +
    `thread then stands there. ${kept}`
  );
}
