import { useQueryClient } from '@tanstack/react-query';
import { type AssistantPlace, assistantQuery } from '../../platform/assistants.ts';

/** Returns a function that has everything read again that shows an assistant, once it was changed. */
export function useAssistantChange(place: AssistantPlace): () => Promise<void> {
  const client = useQueryClient();
  const { workspaceId, deploymentId, assistantId } = place;
  return async () => {
    void client.invalidateQueries({ queryKey: ['assistants', workspaceId, deploymentId] });
    for (const kind of ['assistant-graph', 'assistant-schemas'])
      void client.invalidateQueries({ queryKey: [kind, workspaceId, deploymentId, assistantId] });
    await client.invalidateQueries({ queryKey: assistantQuery(place).queryKey });
  };
}
