/** The tools of the model, which chooses by names and descriptions. */
import { tool } from '@langchain/core/tools';
import { z } from 'zod';

const calculator = tool(
  ({ left, operator, right }) => {
    switch (operator) {
      case '+':
        return String(left + right);
      case '-':
        return String(left - right);
      case '*':
        return String(left * right);
      case '/':
        return right === 0 ? 'undefined: division by zero' : String(left / right);
    }
  },
  {
    name: 'calculator',
    description: 'Does one step of arithmetic.',
    schema: z.object({ left: z.number(), operator: z.enum(['+', '-', '*', '/']), right: z.number() }),
  },
);

const clock = tool(() => new Date().toISOString(), {
  name: 'clock',
  description: 'Tells the current time (UTC).',
  schema: z.object({}),
});

export const tools = [calculator, clock];
