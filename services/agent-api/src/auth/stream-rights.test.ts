import { EventEmitter, once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { ForbiddenError, silentLogger, UnauthorizedError, UnavailableError } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { describe, expect, it } from 'vitest';
import { type Scope, UNRESTRICTED } from '../access/scope.ts';
import { StreamRights, type ThreadRight } from './stream-rights.ts';
import { projectUser, type UserCaller } from './user-caller.ts';

const USER = { identity: 'ada', display_name: 'Ada', is_authenticated: true, permissions: [] };
const ADA = projectUser(USER);

interface Answers {
  authenticate?: () => object;
  authorize?: (event: string) => Scope;
  /** The right to the stream; left out for that to read its thread. */
  right?: ThreadRight;
  /** Says whether the thread is in the user's scope. */
  isThere?: () => boolean;
  /** Throws where the user may not call the route; left out for a stream of a thread. */
  requireCall?: () => void;
}

/** Watches a stream of Ada's whose project answers as the test says. */
function watch(answers: Answers) {
  const connection = new EventEmitter();
  let asked = 0;
  let isEnded = false;
  const callers: object[] = [];
  const rights = new StreamRights({
    verifier: {
      authenticate: async () => {
        asked += 1;
        return (answers.authenticate?.() ?? ADA) as UserCaller;
      },
    },
    authorizer: {
      authorize: async (_caller, event, value) => ({ scope: answers.authorize?.(event) ?? UNRESTRICTED, value }),
    },
    threads: { findWithoutState: async () => (answers.isThere?.() ? ({} as never) : undefined) },
    logger: silentLogger,
    everyMs: 5,
  });
  const stream = {
    req: {} as IncomingMessage,
    caller: ADA,
    connection,
    end: () => {
      isEnded = true;
      connection.emit('close');
    },
    onCaller: (caller: object) => void callers.push(caller),
  };
  const { requireCall, right } = answers;
  if (requireCall) rights.watchCall(stream, async () => requireCall());
  else rights.watch({ ...stream, threadId: 'thread', ...(right && { right }) });
  return { callers, ended: once(connection, 'close'), connection, asked: () => asked, hasEnded: () => isEnded };
}

const OF_ADA: Scope = [{ owner: 'ada' }];
const OF_BOB: Scope = [{ owner: 'bob' }];
/** Returns a function that answers so the first time, and otherwise from then on. */
function changing<Answer>(first: Answer, later: Answer): () => Answer {
  let count = 0;
  return () => {
    count += 1;
    return count === 1 ? first : later;
  };
}
const refuse = (error: Error) => () => {
  throw error;
};

describe('a stream of a user', () => {
  it.each([
    [
      'is not let in any more',
      { authenticate: refuse(new UnauthorizedError('Who are you?', { code: 'user_unauthenticated' })) },
    ],
    ['is somebody else by now', { authenticate: () => ({ ...ADA, identity: 'bob' }) }],
    [
      'may not read threads any more',
      { authorize: refuse(new ForbiddenError('Forbidden', { code: 'denied_by_project' })) },
    ],
    ['sees other threads than before', { authorize: changing<Scope>(OF_ADA, OF_BOB) }],
    ['does not see the thread any more', { authorize: () => OF_ADA, isThere: changing(true, false) }],
  ])('ends once the user %s', async (_, answers) => {
    await watch(answers).ended;
  });

  it.each([
    ['the user may still read the thread', {}],
    [
      'the project cannot answer',
      { authenticate: refuse(new UnavailableError('The project does not answer', { code: 'project_unresponsive' })) },
    ],
    ['the thread is hidden, or yet to come', { authorize: () => OF_ADA, isThere: () => false }],
  ])('goes on while %s', async (_, answers) => {
    const { connection, asked, hasEnded } = watch(answers);
    await waitFor(() => asked() >= 4, { what: 'four questions' });
    expect(hasEnded()).toBe(false);
    connection.emit('close');
  });

  it('goes on while the user has the right by which it was opened, whatever threads it may read', async () => {
    const denied = new ForbiddenError('Forbidden', { code: 'denied_by_project' });
    const authorize = (event: string) => (event === 'threads:create_run' ? UNRESTRICTED : refuse(denied)());
    const right = { event: 'threads:create_run', value: { assistant_id: 'a' } } as const;
    const { connection, asked, hasEnded } = watch({ authorize, right });
    await waitFor(() => asked() >= 4, { what: 'four questions' });
    expect(hasEnded()).toBe(false);
    connection.emit('close');
  });

  it('has the caller as the project describes it by now', async () => {
    const demoted = { ...ADA, user: { identity: 'ada', permissions: [] } };
    const { callers, connection } = watch({ authenticate: changing<object>(ADA, demoted) });
    await waitFor(() => callers.includes(demoted), { what: 'the caller of now' });
    connection.emit('close');
  });
});

describe("a websocket of the project's app", () => {
  const denied = new ForbiddenError('Forbidden', { code: 'denied_by_project' });
  const stranger = new UnauthorizedError('Who are you?', { code: 'user_unauthenticated' });

  it.each<[string, Answers]>([
    ['is not let in any more', { authenticate: refuse(stranger), requireCall: () => undefined }],
    ['may not call its route any more', { requireCall: refuse(denied) }],
  ])('ends once its user %s', async (_, answers) => {
    await watch(answers).ended;
  });

  it('goes on while its user may call its route, whatever threads it may read', async () => {
    const { connection, asked, hasEnded } = watch({ requireCall: () => undefined, authorize: refuse(denied) });
    await waitFor(() => asked() >= 4, { what: 'four questions' });
    expect(hasEnded()).toBe(false);
    connection.emit('close');
  });
});
