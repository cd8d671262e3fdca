import { isSchema, type JsonSchema } from '../../components/schema-form-fields.ts';

/** A tool call that a person decides on. */
export interface ProposedAction {
  name: string;
  args: Record<string, unknown>;
  description: string | undefined;
  /** The decisions that a person may choose from. */
  decisions: Decision[];
  argsSchema: JsonSchema | undefined;
}

export type Decision = 'accept' | 'edit' | 'respond' | 'ignore';

/** The kinds of questions that have a form of their own; `free` is any other, answered by JSON or text. */
export type AnswerShape =
  /** Agent Inbox: `{action_request, config, description}`, alone or as a list of one. */
  | { kind: 'agent-inbox'; action: ProposedAction; isList: boolean }
  /** LangChain's human-in-the-loop middleware: `{action_requests, review_configs}`. */
  | { kind: 'review'; actions: ProposedAction[]; isCamelCase: boolean }
  | { kind: 'schema'; schema: JsonSchema }
  | { kind: 'free' };

/** Returns how an interrupt is answered, by its own schema or by the form of its value. */
export function answerShapeOf(interrupt: { value: unknown; response_schema?: unknown }): AnswerShape {
  const { value, response_schema: schema } = interrupt;
  if (isSchema(schema)) return { kind: 'schema', schema };
  const single: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (!isSchema(single)) return { kind: 'free' };
  const inbox = inboxAction(single);
  if (inbox) return { kind: 'agent-inbox', action: inbox, isList: Array.isArray(value) };
  const actions = reviewActions(single);
  return actions ? { kind: 'review', actions, isCamelCase: 'actionRequests' in single } : { kind: 'free' };
}

function inboxAction({ action_request: request, config, description }: JsonSchema): ProposedAction | undefined {
  if (!isSchema(request) || typeof request.action !== 'string') return undefined;
  const allowed = isSchema(config) ? config : {};
  const all: [Decision, unknown][] = [
    ['accept', allowed.allow_accept],
    ['edit', allowed.allow_edit],
    ['respond', allowed.allow_respond],
    ['ignore', allowed.allow_ignore],
  ];
  return {
    name: request.action,
    args: isSchema(request.args) ? request.args : {},
    description: typeof description === 'string' ? description : undefined,
    decisions: all.filter(([, isAllowed]) => isAllowed === true).map(([decision]) => decision),
    argsSchema: undefined,
  };
}

const DECISIONS: Record<string, Decision> = { approve: 'accept', edit: 'edit', reject: 'ignore', respond: 'respond' };

/** Reads both spellings: LangChain's Python writes `action_requests`, its JavaScript `actionRequests`. */
function reviewActions(value: JsonSchema): ProposedAction[] | undefined {
  const requests = value.action_requests ?? value.actionRequests;
  const configs = value.review_configs ?? value.reviewConfigs;
  if (!Array.isArray(requests) || requests.length === 0) return undefined;
  const actions = requests.filter(isSchema).map((request, index): ProposedAction => {
    const config = configOf(configs, request.name, index);
    const allowed: unknown = config.allowed_decisions ?? config.allowedDecisions;
    const schema = config.args_schema ?? config.argsSchema;
    return {
      name: String(request.name),
      args: isSchema(request.args) ? request.args : isSchema(request.arguments) ? request.arguments : {},
      description: typeof request.description === 'string' ? request.description : undefined,
      decisions: (Array.isArray(allowed) ? allowed : ['approve', 'reject']).flatMap((name) => {
        const decision = DECISIONS[String(name)];
        return decision ? [decision] : [];
      }),
      argsSchema: isSchema(schema) ? schema : undefined,
    };
  });
  return actions.length === requests.length ? actions : undefined;
}

function configOf(configs: unknown, name: unknown, index: number): JsonSchema {
  if (!Array.isArray(configs)) return {};
  const named = configs.find((each) => isSchema(each) && (each.action_name ?? each.actionName) === name) as unknown;
  const found: unknown = named ?? configs[index];
  return isSchema(found) ? found : {};
}

/** A person's decision about an action. */
export interface Decided {
  decision: Decision;
  /** The changed arguments of an `edit`. */
  args?: Record<string, unknown>;
  /** The text of `respond`, or the reason of `ignore`. */
  text?: string;
}

/** Returns the answer that Agent Inbox would send. */
export function inboxAnswer(action: ProposedAction, { decision, args, text }: Decided, isList: boolean): unknown {
  const answer = {
    accept: { type: 'accept', args: null },
    ignore: { type: 'ignore', args: null },
    respond: { type: 'response', args: text ?? '' },
    edit: { type: 'edit', args: { action: action.name, args: args ?? action.args } },
  }[decision];
  return isList ? [answer] : answer;
}

/** Returns the answer that the human-in-the-loop middleware takes: a decision for each action, in their order. */
export function reviewAnswer(actions: ProposedAction[], decided: Decided[], isCamelCase: boolean): unknown {
  const decisions = decided.map(({ decision, args, text }, index) => {
    const action = actions[index]!;
    if (decision === 'accept') return { type: 'approve' };
    if (decision === 'respond') return { type: 'respond', message: text ?? '' };
    if (decision === 'ignore') return { type: 'reject', ...(text && { message: text }) };
    const edited = { name: action.name, args: args ?? action.args };
    return { type: 'edit', [isCamelCase ? 'editedAction' : 'edited_action']: edited };
  });
  return { decisions };
}

/** Returns the text of a question, where its value is one or has one under a usual name. */
export function questionText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.length === 1) return questionText(value[0]);
  if (!isSchema(value)) return undefined;
  for (const name of ['question', 'prompt', 'message', 'description', 'query', 'instruction', 'title']) {
    if (typeof value[name] === 'string' && value[name] !== '') return value[name];
  }
  const shape = answerShapeOf({ value });
  if (shape.kind === 'agent-inbox') return `May ${shape.action.name} be done?`;
  return shape.kind === 'review' ? `May ${shape.actions.map(({ name }) => name).join(', ')} be done?` : undefined;
}

/** Reads what was written as an answer: JSON where it is an object, list, number, truth or null, else a text. */
export function readFreeAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
