import { JsonView } from '../../components/json-view.tsx';
import { Messages } from '../../components/messages.tsx';
import type { RunOutput } from './run-output.ts';

interface ComparedOutputProps {
  /** Undefined where nothing is kept of it. */
  original: RunOutput | undefined;
  shadow: RunOutput | undefined;
  /** True while the shadow goes on. */
  isRunning: boolean;
}

/** The outputs of both runs, side by side. */
export function ComparedOutput({ original, shadow, isRunning }: ComparedOutputProps) {
  return (
    <section aria-labelledby="output" className="flex min-w-0 flex-col gap-2">
      <h2 id="output" className="text-base font-semibold">
        Output
      </h2>
      <div className="grid min-w-0 gap-4 md:grid-cols-2">
        <Side name="Original" output={original} empty="No state is kept of it." />
        <Side name="Shadow" output={shadow} empty={isRunning ? 'There is none yet.' : 'No state is kept of it.'} />
      </div>
    </section>
  );
}

function Side({ name, output, empty }: { name: string; output: RunOutput | undefined; empty: string }) {
  const isEmpty = output === undefined || (output.messages?.length === 0 && output.rest === undefined);
  return (
    <section aria-label={name} className="flex min-w-0 flex-col gap-3 rounded border border-line p-3">
      <h3 className="font-semibold">{name}</h3>
      {isEmpty && <p className="text-faint">{output === undefined ? empty : 'No message came with it.'}</p>}
      {output?.messages && output.messages.length > 0 && <Messages messages={output.messages} />}
      {output?.rest !== undefined && <JsonView name={`output of the ${name.toLowerCase()}`} value={output.rest} />}
    </section>
  );
}
