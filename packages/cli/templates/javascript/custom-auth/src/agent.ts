/** An agent that knows who speaks with it, and keeps notes of each user apart. */
import { createAgent } from 'langchain';
import { model } from './model.ts';
import { listNotes, saveNote } from './tools.ts';

export const agent = createAgent({
  model,
  tools: [saveNote, listNotes],
  systemPrompt: 'You keep notes for the person who speaks with you.',
});
