/** An agent that looks things up in your documents before it answers. */
import { createAgent } from 'langchain';
import { model } from './model.ts';
import { searchDocuments } from './search.ts';

export const agent = createAgent({
  model,
  tools: [searchDocuments],
  systemPrompt: 'Look every question up with search_documents, answer from what it finds alone, and name the file.',
});
