import { Button, missingPermission } from '../../components/button.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Messages } from '../../components/messages.tsx';
import { SchemaForm } from '../../components/schema-form.tsx';
import { useSchemaForm } from '../../components/schema-form-state.ts';
import { useWorkspace } from '../../session/session.ts';
import { shownMessages } from './chat-state.ts';
import { StopButton } from './composer.tsx';
import type { RoomProps } from './conversation.tsx';
import { Questions, RunLine } from './run-line.tsx';

/** Runs a graph with an input of any form, and shows its values. */
export function FormRun({ place, snapshot, questions, wasTaken, schema, start, stop, onAnswered }: RoomProps) {
  const workspace = useWorkspace();
  const form = useSchemaForm(schema);
  const { chat, status, runId } = snapshot;
  const messages = shownMessages(chat);
  const unavailable =
    missingPermission(workspace.may('runs:create'), 'runs:create') ??
    (status === 'idle' ? undefined : 'The graph is still running');
  const submit = () => {
    const filled = unavailable === undefined ? form.submit() : undefined;
    if (filled) start(filled.value ?? {});
  };
  return (
    <div className="grid min-w-0 gap-6 lg:grid-cols-2">
      <section aria-labelledby="input" className="flex min-w-0 flex-col gap-3">
        <h2 id="input" className="text-base font-semibold">
          Input
        </h2>
        <form
          noValidate
          className="flex min-w-0 flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <SchemaForm form={form} label="Input" onSubmit={submit} />
          <div className="flex gap-2">
            <Button look="first" type="submit" unavailable={unavailable}>
              Run
            </Button>
            {status !== 'idle' && <StopButton canStop={runId !== undefined} onStop={stop} />}
          </div>
        </form>
      </section>
      <section aria-labelledby="output" className="flex min-w-0 flex-col gap-3">
        <h2 id="output" className="text-base font-semibold">
          Output
        </h2>
        <RunLine {...{ place, snapshot }} />
        <Questions {...{ place, questions, wasTaken, onAnswered }} />
        {messages.length > 0 && <Messages messages={messages} />}
        {chat.values === null || chat.values === undefined ? (
          <p className="text-faint">The values of the graph will be here.</p>
        ) : (
          <JsonView name="output" value={chat.values} />
        )}
      </section>
    </div>
  );
}
