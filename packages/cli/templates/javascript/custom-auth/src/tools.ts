/** Notes in the store of the deployment: they outlast the thread. Each user has those below the own name. */
import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import { tool } from 'langchain';
import { z } from 'zod';

/** Returns the name that `authenticate` in auth.ts gave the caller. */
function userOf({ configurable }: LangGraphRunnableConfig): string {
  const identity: unknown = configurable?.langgraph_auth_user?.identity;
  if (typeof identity !== 'string') throw new Error('Nobody is signed in.');
  return identity;
}

export const saveNote = tool(
  async ({ text }, config: LangGraphRunnableConfig) => {
    const user = userOf(config);
    await config.store?.put([user, 'notes'], text, { text });
    return `Noted for ${user}: ${text}`;
  },
  {
    name: 'save_note',
    description: 'Keeps a note for the person who speaks.',
    schema: z.object({ text: z.string() }),
  },
);

export const listNotes = tool(
  async (_input, config: LangGraphRunnableConfig) => {
    const user = userOf(config);
    const notes = (await config.store?.search([user, 'notes'], { limit: 50 })) ?? [];
    return `Notes of ${user}: ${notes.map(({ value }) => value.text).join(', ') || 'none'}`;
  },
  { name: 'list_notes', description: 'Reads the notes of the person who speaks.', schema: z.object({}) },
);
