/** The source of the facts. Replace it by a search of the web, or of your own documents. */
import { tool } from 'langchain';
import { z } from 'zod';

const FACTS: Record<string, string> = {
  tea: 'Tea is the most common drink after water.',
  coffee: 'Coffee came to Europe in the sixteenth century.',
};

export const lookUp = tool(
  ({ topic }) => {
    const found = Object.entries(FACTS).find(([word]) => topic.toLowerCase().includes(word));
    return found?.[1] ?? `Nothing is known about ${topic}.`;
  },
  {
    name: 'look_up',
    description: 'Looks a topic up.',
    schema: z.object({ topic: z.string() }),
  },
);
