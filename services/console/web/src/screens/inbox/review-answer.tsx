import { useId, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { SchemaForm } from '../../components/schema-form.tsx';
import { isSchema } from '../../components/schema-form-fields.ts';
import { useSchemaForm } from '../../components/schema-form-state.ts';
import type { AnswerProps } from './answer-form.tsx';
import { type Decided, type Decision, inboxAnswer, type ProposedAction, reviewAnswer } from './answer-shapes.ts';

const WORDS: Record<Decision, string> = { accept: 'Accept', edit: 'Edit', respond: 'Respond', ignore: 'Ignore' };

/** The answer to one action of Agent Inbox. */
export function InboxAnswer({
  action,
  isList,
  send,
  unavailable,
}: AnswerProps & { action: ProposedAction; isList: boolean }) {
  return (
    <ActionReview
      action={action}
      unavailable={unavailable}
      words={WORDS}
      onDecide={(decided) => send(inboxAnswer(action, decided, isList))}
    />
  );
}

/** The answer to the human-in-the-loop middleware: each action is decided on, and then all are sent. */
export function ReviewAnswer({
  actions,
  isCamelCase,
  send,
  unavailable,
}: AnswerProps & { actions: ProposedAction[]; isCamelCase: boolean }) {
  const [decided, setDecided] = useState<(Decided | undefined)[]>(() => actions.map(() => undefined));
  const decide = (index: number, decision: Decided) => {
    const all = decided.with(index, decision);
    setDecided(all);
    if (all.every((each) => each !== undefined)) send(reviewAnswer(actions, all, isCamelCase));
  };
  return (
    <ol className="flex flex-col gap-4">
      {actions.map((action, index) => (
        // An action is its place in the list.
        <li key={index} className="flex flex-col gap-2">
          <ActionReview
            action={action}
            unavailable={unavailable}
            words={{ ...WORDS, accept: 'Approve', ignore: 'Reject' }}
            onDecide={(decision) => decide(index, decision)}
          />
          {decided[index] && actions.length > 1 && (
            <p role="status" className="text-xs text-faint">
              Decided: {decided[index].decision}. All are sent when each is decided on.
            </p>
          )}
        </li>
      ))}
    </ol>
  );
}

interface ActionReviewProps {
  action: ProposedAction;
  unavailable: string | undefined;
  words: Record<Decision, string>;
  onDecide(decided: Decided): void;
}

/** One action with its arguments, and what may be decided about it. */
function ActionReview({ action, unavailable, words, onDecide }: ActionReviewProps) {
  const [open, setOpen] = useState<Decision>();
  const { name, args, description, decisions } = action;
  const choose = (decision: Decision) => {
    if (decision === 'accept' || (decision === 'ignore' && words.ignore === WORDS.ignore)) onDecide({ decision });
    else setOpen(decision === open ? undefined : decision);
  };
  return (
    <section aria-label={`Action ${name}`} className="flex min-w-0 flex-col gap-2">
      <p>
        <code className="font-semibold break-all">{name}</code>
      </p>
      {description && <p className="text-sm break-words whitespace-pre-wrap text-faint">{description}</p>}
      <JsonView name="arguments" value={args} />
      <div className="flex flex-wrap gap-2">
        {decisions.map((decision) => (
          <Button
            key={decision}
            look={decision === 'accept' ? 'first' : 'plain'}
            unavailable={unavailable}
            {...(decision !== 'accept' && { 'aria-expanded': decision === open })}
            onClick={() => choose(decision)}
          >
            {words[decision]}
          </Button>
        ))}
        {decisions.length === 0 && <p className="text-faint">The question allows no decision.</p>}
      </div>
      {open === 'edit' && (
        <EditArguments
          action={action}
          unavailable={unavailable}
          onSend={(args) => onDecide({ decision: 'edit', args })}
        />
      )}
      {(open === 'respond' || open === 'ignore') && (
        <Words
          key={open}
          label={open === 'respond' ? 'Response' : 'Reason (optional)'}
          action={words[open]}
          unavailable={unavailable}
          onSend={(text) => onDecide({ decision: open, text })}
        />
      )}
    </section>
  );
}

function EditArguments({
  action,
  unavailable,
  onSend,
}: Pick<ActionReviewProps, 'action' | 'unavailable'> & { onSend(args: Record<string, unknown>): void }) {
  const form = useSchemaForm(action.argsSchema ?? null, action.args);
  const submit = () => {
    const filled = unavailable === undefined ? form.submit() : undefined;
    if (filled) onSend(isSchema(filled.value) ? filled.value : {});
  };
  return (
    <div className="flex flex-col gap-2">
      <SchemaForm form={form} label="Arguments" onSubmit={submit} />
      <Button look="first" className="self-start" unavailable={unavailable} onClick={submit}>
        Send the changed arguments
      </Button>
    </div>
  );
}

function Words({
  label,
  action,
  unavailable,
  onSend,
}: {
  label: string;
  action: string;
  unavailable: string | undefined;
  onSend(text: string): void;
}) {
  const id = useId();
  const [text, setText] = useState('');
  return (
    <div className="flex flex-col gap-2">
      <label htmlFor={id} className="text-xs font-semibold">
        {label}
      </label>
      <textarea
        id={id}
        // biome-ignore lint/a11y/noAutofocus: it comes where somebody has asked for it
        autoFocus
        value={text}
        onChange={({ target }) => setText(target.value)}
        className="field-sizing-content min-h-14 w-full rounded border border-edge bg-card px-2 py-1.5"
      />
      <Button look="first" className="self-start" unavailable={unavailable} onClick={() => onSend(text)}>
        {action}
      </Button>
    </div>
  );
}
