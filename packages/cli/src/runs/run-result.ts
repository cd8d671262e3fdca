import type { AgentServer } from '../agent-server/agent-server.ts';
import { isObject } from '../agent-server/json.ts';
import { ExitCode } from '../cli-error.ts';
import type { OutputStream } from '../command-context.ts';
import { type Colour, createPainter } from '../output/colours.ts';
import { toJsonLine } from '../output/json-line.ts';
import { cutLine, summarize } from '../output/summary.ts';
import type { Run, RunName } from './run.ts';

const TEXT_MAX = 1_000;

/** Prints how a run ended. @returns the exit code */
export async function printResult(
  server: AgentServer,
  { name, run }: { name: RunName; run: Run | undefined },
  { out, isJson }: { out: OutputStream; isJson: boolean },
): Promise<number> {
  const interrupts = run?.status === 'success' ? await readInterrupts(server, name.threadId) : [];
  const exitCode = run?.status === 'success' ? ExitCode.done : ExitCode.failed;
  if (isJson) {
    const status = run?.status ?? 'deleted';
    const waits = interrupts.length > 0 ? { interrupts } : {};
    const result = { event: 'result', status, thread_id: name.threadId, run_id: name.runId, ...waits };
    out.write(`${toJsonLine(result)}\n`);
  } else {
    out.write(`${createPainter(out)(colourOf(run, interrupts), sentenceOf(run, interrupts))}\n`);
  }
  return exitCode;
}

function colourOf(run: Run | undefined, interrupts: unknown[]): Colour {
  if (run?.status !== 'success') return 'red';
  return interrupts.length > 0 ? 'yellow' : 'green';
}

function sentenceOf(run: Run | undefined, interrupts: unknown[]): string {
  switch (run?.status) {
    case undefined:
      return 'The run was deleted.';
    case 'success': {
      const values = interrupts.map((interrupt) =>
        summarize(isObject(interrupt) ? interrupt.value : interrupt, TEXT_MAX),
      );
      return values.length > 0 ? `The thread waits for an answer: ${values.join('; ')}` : 'The run succeeded.';
    }
    case 'error':
      return 'The run failed.';
    case 'timeout':
      return 'The run took too long.';
    case 'interrupted': {
      const reason = run.cancel_reason;
      return `The run was cancelled${typeof reason === 'string' ? `: ${cutLine(reason, TEXT_MAX)}` : ''}.`;
    }
    default:
      return `The run ended: ${cutLine(run?.status ?? '', TEXT_MAX)}.`;
  }
}

/** Returns what a thread waits for an answer to. */
async function readInterrupts(server: AgentServer, threadId: string): Promise<unknown[]> {
  const thread = await server.find<unknown>(`/threads/${threadId}`);
  if (!isObject(thread) || thread.status !== 'interrupted' || !isObject(thread.interrupts)) return [];
  return Object.values(thread.interrupts).flat();
}
