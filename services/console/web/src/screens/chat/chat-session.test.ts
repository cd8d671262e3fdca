import type { Thread } from '@runyard/contracts';
import { describe, expect, it } from 'vitest';
import { ChatSession } from './chat-session.ts';
import { shownMessages } from './chat-state.ts';
import type { RunListener } from './run-stream.ts';

const PLACE = { workspaceId: 'w', deploymentId: 'd', threadId: 't' };
const SAID = { type: 'human', id: 'h', content: 'hi' };

function thread(values: unknown, error: Thread['error'] = null): Thread {
  return { thread_id: 't', values, error, status: 'idle', metadata: {}, config: {} } as Thread;
}

function deferred() {
  let resolve = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<void>((onDone, onError) => {
    resolve = onDone;
    reject = onError;
  });
  return { promise, resolve, reject };
}

/** A session whose streams are played by the test. */
function play(end: Thread | Error) {
  const reading = deferred();
  const seen: { listener?: RunListener; signal?: AbortSignal } = {};
  const read = (listener: RunListener, signal: AbortSignal) => {
    Object.assign(seen, { listener, signal });
    return reading.promise;
  };
  const session = new ChatSession(PLACE, () => (end instanceof Error ? Promise.reject(end) : Promise.resolve(end)), {
    streamRun: (_place, _start, listener, signal) => read(listener, signal),
    joinRun: (_place, _runId, listener, signal) => read(listener, signal),
  });
  const settle = () => new Promise((resolve) => setTimeout(resolve));
  return { session, seen, reading, settle };
}

describe('a chat session', () => {
  it('shows what was said before the graph has it, and what the thread says once the run has ended', async () => {
    const { session, seen, reading, settle } = play(
      thread({ messages: [SAID, { type: 'ai', id: 'a', content: 'x' }] }),
    );
    session.start({ assistantId: 'a', input: {} }, SAID);
    expect(session.snapshot().status).toBe('starting');
    expect(shownMessages(session.snapshot().chat).map(({ text }) => text)).toEqual(['hi']);
    seen.listener?.onRun('r');
    seen.listener?.onEvents([{ event: 'metadata', data: {} }]);
    expect(session.snapshot()).toMatchObject({ status: 'running', runId: 'r' });
    reading.resolve();
    await settle();
    expect(session.snapshot().status).toBe('idle');
    expect(shownMessages(session.snapshot().chat).map(({ text }) => text)).toEqual(['hi', 'x']);
  });

  it('keeps what is shown when the run cannot be followed', async () => {
    const { session, reading, settle } = play(new Error('no network'));
    session.start({ assistantId: 'a', input: {} }, SAID);
    reading.reject(new Error('refused'));
    await settle();
    expect(session.snapshot()).toMatchObject({ status: 'idle', fault: new Error('refused') });
    expect(shownMessages(session.snapshot().chat)).toHaveLength(1);
  });

  it('follows one run at a time', () => {
    const { session, seen } = play(thread(null));
    session.join('r');
    const { listener } = seen;
    session.join('other');
    session.start({ assistantId: 'a', input: {} });
    expect(seen.listener).toBe(listener);
  });

  it('shows the values of the thread only while the stream of the run brings none', () => {
    const { session, seen } = play(thread(null));
    session.join('r');
    session.showThread(thread({ n: 1 }));
    expect(session.snapshot().chat.values).toEqual({ n: 1 });
    seen.listener?.onEvents([{ event: 'values', data: { n: 2 } }]);
    expect(session.hasValues()).toBe(true);
    session.showThread(thread({ n: 1 }));
    expect(session.snapshot().chat.values).toEqual({ n: 2 });
  });

  it('hears nothing more of a run that was left', async () => {
    const { session, seen, reading, settle } = play(thread({ n: 9 }));
    session.join('r');
    session.leave();
    expect(seen.signal?.aborted).toBe(true);
    seen.listener?.onEvents([{ event: 'values', data: { n: 2 } }]);
    reading.resolve();
    await settle();
    expect(session.snapshot()).toMatchObject({ status: 'idle', chat: { values: null } });
  });
});
