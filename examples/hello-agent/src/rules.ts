/**
 * Decides what the model without a network "thinks". It reads the conversation since the last question and either calls
 * a tool or answers. A question may need several tools one after the other: "work out 6 * 7 and note it" goes round the
 * loop twice.
 */
import { type BaseMessage, isHumanMessage, isToolMessage } from '@langchain/core/messages';

export interface Decision {
  text: string;
  toolCall?: { name: string; args: Record<string, unknown> };
}

const GREETING =
  'Hello! I am a small agent without a model. Ask me what 6 * 7 is, what time it is, to note that the milk is out, ' +
  'to show my notes, to email Ada about lunch, or to wait 30 seconds.';

export function decide(messages: BaseMessage[]): Decision {
  const question = textOf(messages.findLast(isHumanMessage));
  const since = messages.slice(messages.findLastIndex(isHumanMessage) + 1);
  const results = since.filter(isToolMessage).map((message) => ({ tool: message.name, text: textOf(message) }));
  const done = new Set(results.map(({ tool }) => tool));
  const next = plan(question, results.at(-1)?.text).find(({ name }) => !done.has(name));
  if (next) return { text: '', toolCall: next };
  if (results.length > 0) return { text: results.map(({ tool, text }) => sentence(tool, text)).join(' ') };
  return { text: GREETING };
}

type Step = { name: string; args: Record<string, unknown> };

/** Returns the tools a question needs, in order. A later one may use the result of the one before. */
function plan(question: string, lastResult: string | undefined): Step[] {
  const steps: Step[] = [];
  const sum = question.match(/(-?\d+(?:\.\d+)?)\s*([-+*/x×])\s*(-?\d+(?:\.\d+)?)/);
  if (sum) {
    const operator = sum[2] === 'x' || sum[2] === '×' ? '*' : sum[2];
    steps.push({ name: 'calculator', args: { left: Number(sum[1]), operator, right: Number(sum[3]) } });
  }
  if (/\btime\b/i.test(question)) steps.push({ name: 'clock', args: {} });
  const note = question.match(/\b(?:note|remember)(?: that)?\s+(.+?)[.!]?$/i);
  if (/\b(?:my|show|list|read)\b.*\bnotes\b/i.test(question)) steps.push({ name: 'list_notes', args: {} });
  else if (note) steps.push({ name: 'save_note', args: { text: note[1] === 'it' ? (lastResult ?? 'it') : note[1] } });
  const email = question.match(/\be?-?mail\s+(?:to\s+)?(\S+?)(?:\s+(?:about|saying|that)\s+(.+?))?[.!?]?$/i);
  if (email) steps.push({ name: 'send_email', args: { to: email[1], subject: email[2] ?? 'Hello' } });
  const pause = question.match(/\bwait\s+(\d+)/i);
  if (pause) steps.push({ name: 'wait', args: { seconds: Number(pause[1]) } });
  return steps;
}

function sentence(tool: string | undefined, result: string): string {
  if (tool === 'calculator') return `That makes ${result}.`;
  if (tool === 'clock') return `It is ${result}.`;
  if (tool === 'list_notes') return `Your notes:\n${result}`;
  return result;
}

function textOf(message: BaseMessage | undefined): string {
  if (message === undefined) return '';
  return typeof message.content === 'string' ? message.content : message.text;
}
