/** The tools of the agent. One is dangerous, and asks a person first. */
import { setTimeout as sleep } from 'node:timers/promises';
import { tool } from '@langchain/core/tools';
import { interrupt, type LangGraphRunnableConfig } from '@langchain/langgraph';
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

/**
 * The namespace of notes. They live in the deployment's store: they outlast the thread and every other thread sees
 * them.
 */
const NOTES = ['notes'];

const saveNote = tool(
  async ({ text }, config: LangGraphRunnableConfig) => {
    await config.store?.put(NOTES, text, { text });
    return `Noted: ${text}`;
  },
  {
    name: 'save_note',
    description: 'Keeps a note for later, also for other conversations.',
    schema: z.object({ text: z.string() }),
  },
);

const listNotes = tool(
  async (_input, config: LangGraphRunnableConfig) => {
    const notes = (await config.store?.search(NOTES, { limit: 50 })) ?? [];
    if (notes.length === 0) return 'There are no notes yet.';
    return notes.map(({ value }) => `- ${value.text}`).join('\n');
  },
  { name: 'list_notes', description: 'Reads all notes.', schema: z.object({}) },
);

/** The answer of the person who was asked: `{"approved": true}`, or plainly `"yes"`. */
type Decision = { approved: boolean; reason?: string } | string;

const sendEmail = tool(
  ({ to, subject }) => {
    // The run stops here and its state is kept, for minutes or for weeks. Resuming it with a command makes `interrupt`
    // return what the command carries.
    const decision = interrupt<unknown, Decision>({
      question: `May I send the email "${subject}" to ${to}?`,
      action: 'send_email',
      to,
      subject,
    });
    if (isApproval(decision)) return `The email "${subject}" was sent to ${to}.`;
    const reason = typeof decision === 'object' && decision.reason ? ` Reason: ${decision.reason}` : '';
    return `The email was not sent: a person declined.${reason}`;
  },
  {
    name: 'send_email',
    description: 'Sends an email (here it only says so), after a person has approved.',
    schema: z.object({ to: z.string(), subject: z.string() }),
  },
);

function isApproval(decision: Decision): boolean {
  if (typeof decision === 'string') return /^(y|yes|ok|approve|approved)$/i.test(decision.trim());
  return decision?.approved === true;
}

const wait = tool(
  async ({ seconds }, config: LangGraphRunnableConfig) => {
    for (let passed = 0; passed < seconds; passed++) {
      // Clients that stream the mode `custom` get what is written here.
      config.writer?.({ waited_seconds: passed, of: seconds });
      // The signal ends the wait at once when somebody cancels the run.
      await sleep(1000, undefined, { signal: config.signal });
    }
    return `Waited ${seconds} seconds.`;
  },
  {
    name: 'wait',
    description: 'Waits some seconds: long enough to try cancelling a run.',
    schema: z.object({ seconds: z.number().int().min(0).max(3600) }),
  },
);

export const tools = [calculator, clock, saveNote, listNotes, sendEmail, wait];
