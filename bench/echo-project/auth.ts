/** Users by their bearer token, each with what is its own: what most projects need of an auth handler. */
import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';

export const auth = new Auth()
  .authenticate(({ headers }) => {
    const [, identity] = /^Bearer (\w+)$/.exec(headers.get('authorization') ?? '') ?? [];
    if (identity === undefined) throw new HTTPException(401, { message: 'Who are you?' });
    return { identity, permissions: [] };
  })
  .on('*', ({ value, user }) => {
    if ('metadata' in value) value.metadata = { ...value.metadata, owner: user.identity };
    return { owner: user.identity };
  });
