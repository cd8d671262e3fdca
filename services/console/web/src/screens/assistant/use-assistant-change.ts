import { useQueryClient } from '@tanstack/react-query';
import { type AssistantPlace, assistantQuery } from '../../platform/assistants.ts';

/** Returns a function that has everything read again that shows an assistant, once it was changed. */
export function useAssistantChange(place: AssistantPlace): () => Promise<void> {
  const client = useQueryClient();
  const { workspaceId, deploymentId } = place;
  return async () => {
    void client.invalidateQueries({ queryKey: ['assistants', workspaceId, deploymentId] });
    await client.invalidateQueries({ queryKey: assistantQuery(place).queryKey });
  };
}
