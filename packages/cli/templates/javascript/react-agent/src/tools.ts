/** The tools of the agent. The model chooses by their names and descriptions. */
import { tool } from 'langchain';
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

const sendEmail = tool(({ to, subject }) => `The email "${subject}" was sent to ${to}.`, {
  name: 'send_email',
  description: 'Sends an email (here it only says so).',
  schema: z.object({ to: z.string(), subject: z.string() }),
});

export const tools = [calculator, sendEmail];
