/** Two users, each of whom sees its own threads alone. */
import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';

export const auth = new Auth()
  .authenticate(({ headers }) => {
    const [, identity = ''] = /^Bearer (ada|bob)$/.exec(headers.get('authorization') ?? '') ?? [];
    if (identity === '') throw new HTTPException(401, { message: 'Who are you?' });
    return { identity, permissions: [] };
  })
  .on('*', ({ value, user }) => {
    if ('metadata' in value) value.metadata = { ...value.metadata, owner: user.identity };
    return { owner: user.identity };
  });
