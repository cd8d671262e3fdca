import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Dialog } from '../../components/dialog.tsx';
import { useRequest } from '../../components/use-action.ts';
import { createAssistant } from '../../platform/assistants.ts';
import { AssistantForm } from './assistant-form.tsx';
import { type AssistantDraft, creationOf, EMPTY_DRAFT } from './assistant-request.ts';

interface CreateAssistantProps {
  isOpen: boolean;
  onClose(): void;
  workspaceId: string;
  deploymentId: string;
  graphs: readonly string[];
  /** The graph that the form begins with. */
  graph: string | undefined;
}

/** Makes an assistant, and leads to its page. */
export function CreateAssistant({ isOpen, onClose, ...rest }: CreateAssistantProps) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="New assistant"
      description="A graph with a configuration of its own, under a name that runs are made with."
    >
      <Form {...rest} onClose={onClose} />
    </Dialog>
  );
}

function Form({ workspaceId, deploymentId, graphs, graph, onClose }: Omit<CreateAssistantProps, 'isOpen'>) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const requestFor = useRequest<ReturnType<typeof creationOf>>();
  const place = { workspaceId, deploymentId };
  const save = async (draft: AssistantDraft) => {
    const { body, key } = requestFor(draft, () => creationOf(draft));
    const { assistant_id: assistantId } = await createAssistant(place, body, key);
    void client.invalidateQueries({ queryKey: ['assistants', workspaceId, deploymentId] });
    onClose();
    await navigate({
      to: '/w/$workspaceId/deployments/$deploymentId/assistants/$assistantId',
      params: { workspaceId, deploymentId, assistantId },
      search: {},
    });
  };
  return (
    <AssistantForm
      place={place}
      start={{ ...EMPTY_DRAFT, graph: graph ?? graphs[0] ?? '' }}
      graphs={graphs}
      action="Create"
      onCancel={onClose}
      onSave={save}
    />
  );
}
