/**
 * Decides who may call this server, and what is whose. The server asks `authenticate` about every request, and the other
 * handlers about everything that is read or written.
 *
 * The two tokens are for trying this out. Before anybody else reaches the server, verify here what your identity
 * provider signs, such as a JWT.
 */
import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';

const USERS: Record<string, { identity: string; display_name: string }> = {
  'ada-token': { identity: 'ada', display_name: 'Ada' },
  'bob-token': { identity: 'bob', display_name: 'Bob' },
};

export const auth = new Auth()
  .authenticate((request) => {
    const [, token = ''] = /^Bearer (.+)$/i.exec(request.headers.get('authorization') ?? '') ?? [];
    const user = Object.hasOwn(USERS, token) ? USERS[token] : undefined;
    if (!user) throw new HTTPException(401, { message: 'Send one of the tokens of src/auth.ts as a bearer token.' });
    return { ...user, permissions: [] };
  })
  // Threads, runs and crons carry the name of who made them, and nobody else sees them.
  .on('*', ({ value, user }) => {
    if ('metadata' in value) value.metadata = { ...value.metadata, owner: user.identity };
    return { owner: user.identity };
  })
  // Everybody uses the assistants of this project, and nobody changes them.
  .on('assistants', ({ event }) => event === 'assistants:read' || event === 'assistants:search')
  // Each has the part of the store that begins with the own name.
  .on('store', ({ value, user }) => value.namespace?.[0] === user.identity);
