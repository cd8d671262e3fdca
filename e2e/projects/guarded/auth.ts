/**
 * Lets in three people by their bearer tokens, and shows each what they made alone. A test chooses by headers what the
 * handlers do instead: `x-act`, for the event in `x-on` or for all; `x-may-not` has ids.
 */
import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';

const PEOPLE: ReadonlySet<string> = new Set(['ada', 'bob', 'eve']);

interface Asked {
  event: string;
  value: Record<string, unknown>;
  user: { identity: string; act?: string | null; on?: string | null; mayNot?: string | null };
}

export const auth = new Auth()
  .authenticate(({ headers }) => {
    const [, name = ''] = /^Bearer (\w+)$/.exec(headers.get('authorization') ?? '') ?? [];
    if (!PEOPLE.has(name)) {
      throw new HTTPException(401, { message: 'Who are you?', headers: { 'www-authenticate': 'Bearer' } });
    }
    const [act, on, mayNot] = [headers.get('x-act'), headers.get('x-on'), headers.get('x-may-not')];
    if (act === 'no-user') return 7 as never;
    if (act === 'lost-directory') throw new Error('the directory of people is away');
    const identity = act === 'no-identity' ? '' : name;
    return { identity, permissions: [`be:${name}`], display_name: name, secret: `secret of ${name}`, act, on, mayNot };
  })
  .on('*', decideBy(ownByMetadata))
  .on('store', decideBy(ownByNamespace))
  // The SDK does not know the event of routes.
  .on(
    'routes:call' as '*',
    decideBy(({ user }) => user.identity !== 'eve'),
  );

/** Returns a handler that decides as usual, unless the test says otherwise. */
function decideBy(usual: (asked: Asked) => unknown): (context: object) => never {
  return (context) => {
    // The handler changes the context itself.
    const asked = context as Asked;
    const { act, on } = asked.user;
    const isMeant = on === undefined || on === null || on === asked.event;
    return (isMeant && act ? (ACTS[act] ?? usual)(asked) : usual(asked)) as never;
  };
}

/** Each sees the rows with their name alone, and what they make has their name. */
function ownByMetadata({ value, user }: Asked): unknown {
  if ('metadata' in value) value.metadata = { ...(value.metadata as object), owner: user.identity };
  return { owner: user.identity };
}

/** Each has a part of the store of their own, which they do not see the name of. */
function ownByNamespace({ value, user }: Asked): undefined {
  value.namespace = [user.identity, ...((value.namespace as string[] | undefined) ?? [])];
}

const isNamed = ({ mayNot }: Asked['user'], id: unknown) => (mayNot ?? '').split(',').includes(String(id));

const ACTS: Record<string, (asked: Asked) => unknown> = {
  deny: () => false,
  refuse: () => {
    throw new HTTPException(418, { message: 'No tea today', headers: { 'x-why': 'tea' } });
  },
  hang: () => new Promise(() => undefined),
  throw: () => {
    throw new Error('the table of teams is away');
  },
  number: () => 7,
  'undefined-value': () => ({ owner: undefined }),
  'unknown-operator': () => ({ owner: { $ne: 'bob' } }),
  'empty-or': () => ({ $or: [] }),
  'empty-contains': () => ({ teams: { $contains: [] } }),
  'long-or': () => ({ $or: Array.from({ length: 101 }, (_, owner) => ({ owner })) }),
  'other-value': (asked) => {
    asked.value = 'replaced' as never;
  },
  /** Says in the log what a handler is shown. */
  tell: (asked) => {
    console.log(`asked ${asked.event} ${JSON.stringify(asked.value)}`);
    return ownByMetadata(asked);
  },
  everything: () => ({}),
  /** Shows the items alone that are below the user's name, as code for other servers does. */
  'own-namespace': ({ user }) => ({ namespace: { $contains: user.identity } }),
  /** Decide by ids alone, without a filter: all but those that `x-may-not` names. */
  'other-threads': ({ value, user }) => ![value.thread_id, value.thread_ids].flat().some((id) => isNamed(user, id)),
  'other-assistants': ({ value, user }) => {
    const { assistant_id } = (value.payload ?? value) as { assistant_id?: unknown };
    return !isNamed(user, assistant_id);
  },
  /** Relies on metadata that are there, as code for other servers does. */
  'own-metadata': ({ value, user }) => {
    (value.metadata as Record<string, unknown>).owner = user.identity;
    return { owner: user.identity };
  },
  /** Says what every run of a user has. */
  'own-context': ({ value, user }) => {
    const kwargs = value.kwargs as { context?: object } | undefined;
    if (kwargs) kwargs.context = { ...kwargs.context, tenant: user.identity };
  },
};
