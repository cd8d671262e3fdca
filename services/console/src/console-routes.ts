import { defineOperation } from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import Type from 'typebox';
import { openLive } from './live/live-operation.ts';
import type { LiveStreams } from './live/live-stream.ts';
import type { SignIn } from './sign-in/sign-in.ts';

const tags = ['Console'];
const text = (maxLength: number) => Type.Optional(Type.String({ maxLength }));

const getSession = defineOperation({
  operationId: 'getSession',
  method: 'get',
  path: '/auth/session',
  summary: 'Say whether the browser has a session, which may have ended meanwhile.',
  tags,
  access: 'public',
  responses: { 200: { description: 'Whether.', schema: Type.Object({ is_signed_in: Type.Boolean() }) } },
});

const beginSignIn = defineOperation({
  operationId: 'beginSignIn',
  method: 'get',
  path: '/auth/start',
  summary: 'Send a browser to where people sign in.',
  tags,
  access: 'public',
  query: Type.Object({ return_to: text(2_048) }),
  responses: { 303: { description: 'The page of sign-in.' } },
});

const finishSignIn = defineOperation({
  operationId: 'finishSignIn',
  method: 'get',
  path: '/auth/callback',
  summary: 'Sign a browser in that comes back.',
  tags,
  access: 'public',
  query: Type.Object({ code: text(200), state: text(200) }),
  responses: { 303: { description: 'The page on which the sign-in began.' } },
});

const endSignIn = defineOperation({
  operationId: 'endSignIn',
  method: 'post',
  path: '/auth/sign-out',
  summary: 'Sign a browser out.',
  tags,
  access: 'public',
  responses: { 200: { description: 'Where it signs out at the identity provider.', schema: Type.Unknown() } },
});

/** Serves browsers what is neither a page nor the platform's own API: nothing that a program needs. */
export function consoleRoutes({ signIn, live }: { signIn: SignIn; live: LiveStreams }): BoundOperation[] {
  return [
    bind(getSession, async ({ raw }) => ok({ is_signed_in: signIn.isSignedIn(raw) })),
    bind(beginSignIn, async ({ query }) => signIn.begin(query.return_to)),
    bind(finishSignIn, async ({ query, raw }) => signIn.finish(raw, query)),
    bind(endSignIn, async ({ raw }) => signIn.end(raw)),
    bind(openLive, async ({ raw, res, body }) => live.send(raw, res, body)),
  ];
}
