import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useEffect, useMemo, useRef } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { Fault } from '../../components/fault.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { SchemaForm } from '../../components/schema-form.tsx';
import type { JsonSchema } from '../../components/schema-form-fields.ts';
import { useSchemaForm } from '../../components/schema-form-state.ts';
import { type AnswerOutcome, answerInterrupt, type Question } from '../../platform/threads.ts';
import { useWorkspace } from '../../session/session.ts';
import { answerShapeOf, questionText } from './answer-shapes.ts';
import { FreeAnswer } from './free-answer.tsx';
import { InboxAnswer, ReviewAnswer } from './review-answer.tsx';

export interface AnswerFormProps {
  workspaceId: string;
  deploymentId: string;
  threadId: string;
  interrupt: Question;
  /** Called when an answer was taken, or came too late, which the form then says itself. */
  onAnswered(outcome: AnswerOutcome): void;
  /** True if the first field takes the focus. */
  hasFocus?: boolean;
}

/** The props of each form of an answer. */
export interface AnswerProps {
  send(response: unknown): void;
  /** The sentence that says why nothing can be sent at the moment. */
  unavailable: string | undefined;
}

/** Shows what a thread asks a person, and takes the answer. */
export function AnswerForm(props: AnswerFormProps) {
  // The key clears the form for another question: a text for one question is no answer to another.
  return <Form key={`${props.threadId}:${props.interrupt.id}`} {...props} />;
}

function Form({ workspaceId, deploymentId, threadId, interrupt, onAnswered, hasFocus = false }: AnswerFormProps) {
  const workspace = useWorkspace();
  const place = useRef<HTMLDivElement>(null);
  const id = interrupt.id ?? undefined;
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: (response: unknown) => answerInterrupt({ workspaceId, deploymentId, threadId }, id ?? '', response),
    onSuccess: onAnswered,
  });
  useEffect(() => {
    if (hasFocus)
      place.current
        ?.querySelector<HTMLElement>('[data-answer] :is(textarea, input:not([type=checkbox]), select, button)')
        ?.focus();
  }, [hasFocus]);
  const unavailable =
    missingPermission(workspace.may('runs:create'), 'runs:create') ??
    (id === undefined ? 'The question has no id, so that it cannot be answered here' : undefined) ??
    (isPending ? 'The answer is being sent' : undefined) ??
    (data ? 'It has been answered' : undefined);
  return (
    <div ref={place} className="flex min-w-0 flex-col gap-3">
      <Asked value={interrupt.value} />
      {data?.type === 'too-late' ? (
        <p role="alert" className="rounded border border-wait bg-card px-3 py-2 text-wait">
          This question was answered by somebody else meanwhile.
        </p>
      ) : (
        <div data-answer className="flex min-w-0 flex-col gap-3">
          <Answer interrupt={interrupt} send={mutate} unavailable={unavailable} />
        </div>
      )}
      <p role="status" className="text-xs text-faint empty:hidden">
        {data?.type === 'taken' && 'The answer was taken.'}
      </p>
      <Fault error={error} />
    </div>
  );
}

function Asked({ value }: { value: unknown }) {
  const text = questionText(value);
  const isWhole = typeof value === 'string' || (isSingle(value) && text !== undefined);
  return (
    <>
      {text !== undefined && <p className="font-medium break-words whitespace-pre-wrap">{text}</p>}
      {!isWhole && <JsonView name="question" value={value} />}
    </>
  );
}

/** Returns whether a value says nothing but its text. */
function isSingle(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 1;
}

function Answer({ interrupt, ...answer }: AnswerProps & { interrupt: Question }): ReactNode {
  const shape = useMemo(() => answerShapeOf(interrupt), [interrupt]);
  switch (shape.kind) {
    case 'schema':
      return <SchemaAnswer schema={shape.schema} {...answer} />;
    case 'agent-inbox':
      return <InboxAnswer action={shape.action} isList={shape.isList} {...answer} />;
    case 'review':
      return <ReviewAnswer actions={shape.actions} isCamelCase={shape.isCamelCase} {...answer} />;
    case 'free':
      return <FreeAnswer {...answer} />;
  }
}

function SchemaAnswer({ schema, send, unavailable }: AnswerProps & { schema: JsonSchema }) {
  const form = useSchemaForm(schema);
  const submit = () => {
    const filled = unavailable === undefined ? form.submit() : undefined;
    if (filled) send(filled.value);
  };
  return (
    <form
      className="flex min-w-0 flex-col gap-3"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <SchemaForm form={form} label="Answer" onSubmit={submit} />
      <Button look="first" type="submit" className="self-start" unavailable={unavailable}>
        Answer
      </Button>
    </form>
  );
}
