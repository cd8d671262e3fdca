import Type, { type Static, type TObject } from 'typebox';
import { defineOperation, type Operation, type OperationResponse } from '../../operation.ts';
import { ErrorResponse, ValidationErrorResponse } from '../common.ts';

const Html = Type.String({ description: 'A page.' });
/** An answer that is a page. */
export const htmlPage = (description: string): OperationResponse => ({
  description,
  contentType: 'text/html',
  schema: Html,
});

const RESPONSES: Record<number, OperationResponse> = {
  200: htmlPage('The page.'),
  303: {
    description: 'The browser goes on elsewhere.',
    headers: { Location: 'A path of this host, the console, or the address of a client that asked.' },
  },
  400: htmlPage('The link does not work any more.'),
  401: {
    ...htmlPage('The page again, with what was wrong. JSON when the credential of a program is not valid.'),
    otherContentTypes: { 'application/json': ErrorResponse },
  },
  403: htmlPage('The person may not do this, or the form is not from this page.'),
  409: htmlPage('The page again: there is something of the kind already.'),
  422: {
    ...htmlPage('A field is missing or refused.'),
    otherContentTypes: { 'application/json': ValidationErrorResponse },
  },
  429: htmlPage('There were too many attempts.'),
};

/** Fields of forms. What is missing is said on the page. */
export const Text = (maxLength: number) => Type.Optional(Type.String({ maxLength }));
export const Token = Text(200);
export const ReturnTo = Text(2048);
export const Email = Text(320);
export const Password = Text(1024);
export const Code = Text(64);
/** The answer of the browser's authenticator, as JSON. */
export const Credential = Text(32_768);
/** Proves that the form is from a page of the session. */
export const Csrf = Text(200);

/** A page of its own, as a browser shows it. */
export function pageOf<const Query extends TObject>(page: {
  operationId: string;
  path: string;
  summary: string;
  query: Query;
}): Operation<TObject, Query, TObject> {
  return defineOperation<TObject, Query, TObject>({
    ...page,
    method: 'get',
    tags: ['sign-in pages'],
    access: 'public',
    responses: RESPONSES,
  });
}

/** The end of a form of such a page. */
export function formOf<const Body extends TObject>(form: {
  operationId: string;
  path: string;
  summary: string;
  body: Body;
}): Operation<TObject, TObject, Body> {
  return defineOperation<TObject, TObject, Body>({
    ...form,
    method: 'post',
    tags: ['sign-in pages'],
    access: 'public',
    bodyType: 'application/x-www-form-urlencoded',
    bodyLimitBytes: 65_536,
    responses: RESPONSES,
    examples: { body: exampleOf(form.body) },
  });
}

/** Example values of fields, by their names. */
const EXAMPLES: Record<string, string> = {
  email: 'ada@example.com',
  full_name: 'Ada Lovelace',
  password: 'seven grey herons asleep',
  current_password: 'a lighthouse keeps no diary',
  code: '123456',
  user_code: 'BCDF-GHJK',
  return_to: '/auth/account',
  answer: 'accept',
  method: 'password',
  organization_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
  name: 'Laptop',
  passkey_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a003',
  session_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a002',
};

/** A secret of a link or of a session has no example value that could be one. */
const SECRET_EXAMPLE = 'from the page';

function exampleOf<Body extends TObject>(body: Body): Static<Body> {
  const values = Object.keys(body.properties).map((name) => [name, EXAMPLES[name] ?? SECRET_EXAMPLE]);
  return Object.fromEntries(values) as Static<Body>;
}

/** A page without parameters. */
export const NoQuery = Type.Object({});
