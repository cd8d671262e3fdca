import { AUTHORIZATION_PAGE_PATH, authorizationPages } from '@runyard/contracts';
import { BadRequestError, type BoundOperation, type Reply, redirect } from '@runyard/service-kit';
import { audited } from '../audit/audit-trail.ts';
import { changeOrigin } from '../audit/change-origin.ts';
import type { Database } from '../database/database.ts';
import { issueCode } from '../programs/oauth/authorization-codes.ts';
import {
  type AskingClient,
  type AuthorizationParameters,
  type AuthorizationRequest,
  answerAddress,
  parametersIn,
  queryOf,
  requireAskingClient,
  requireCodeRequest,
} from '../programs/oauth/authorization-requests.ts';
import type { OAuthClients } from '../programs/oauth/clients.ts';
import type { McpServer, McpServers } from '../programs/oauth/mcp-servers.ts';
import { invalidRequest } from '../programs/oauth/oauth-error.ts';
import { bindPage, RETURN_ADDRESS_MAX } from './bind-page.ts';
import { html } from './html.ts';
import { hidden, showPage, submit } from './layout.ts';
import type { PageVisitors, Visitor } from './page-visitors.ts';

export interface AuthorizationPageParts {
  database: Database;
  visitors: PageVisitors;
  clients: OAuthClients;
  servers: McpServers;
  /** The base of all addresses. */
  issuer: string;
}

/**
 * The page on which a person lets an MCP client use a deployment. Anybody may register a client with any address, so a
 * request that is not good is shown here and not sent on: only an answer of the person leads the browser elsewhere.
 */
export function authorizationPageRoutes(parts: AuthorizationPageParts): BoundOperation[] {
  const { visitors } = parts;
  return [
    bindPage(authorizationPages.show, async ({ query, headers, raw }) =>
      orOfferWayBack(parts, query, async (asking) => {
        if (raw.originalUrl.length > RETURN_ADDRESS_MAX)
          throw invalidRequest('invalid_request', 'The request is too long');
        const request = requireCodeRequest(asking, query);
        const visitor = await visitors.require(headers);
        return showQuestion(parts, visitor, request, query);
      }),
    ),
    bindPage(authorizationPages.answer, async ({ body, headers }) =>
      visitors.change(headers, body.csrf, (visitor) => {
        const parameters = parametersIn(body.request ?? '');
        return orOfferWayBack(parts, parameters, async (asking) => {
          const request = requireCodeRequest(asking, parameters);
          return body.answer === 'accept' ? accept(parts, visitor, request) : refuse(parts, visitor, request);
        });
      }),
    ),
  ];
}

/** Shows a request that is not good, with a link that tells its client so. @throws BadRequestError, UnauthorizedError */
async function orOfferWayBack(
  { clients, issuer }: AuthorizationPageParts,
  parameters: AuthorizationParameters,
  work: (asking: AskingClient) => Promise<Reply>,
): Promise<Reply> {
  const asking = requireAskingClient(clients, parameters);
  try {
    return await work(asking);
  } catch (error) {
    if (!(error instanceof BadRequestError)) throw error;
    const fault = { error: String(error.body.error ?? 'invalid_request'), error_description: error.message };
    const title = `${asking.client.name} asks for what it cannot have`;
    const body = html`<p><a href="${answerAddress(asking, issuer, fault)}">Go back to ${placeOf(asking)}</a></p>`;
    return showPage({ title, body, fault: error.message }, { status: 400 });
  }
}

async function showQuestion(
  { database, servers }: AuthorizationPageParts,
  { session, csrf }: Visitor,
  request: AuthorizationRequest,
  parameters: AuthorizationParameters,
): Promise<Reply> {
  const server = await servers.requireReached(session, request.resource);
  const { organizationId, workspaceId } = server;
  const { displayName } = await database.prisma.workspace.findFirstOrThrow({
    where: { id: workspaceId, organizationId },
    select: { displayName: true },
  });
  const fields = html`${hidden('csrf', csrf)}${hidden('request', queryOf(parameters))}`;
  return showPage({
    title: `Let ${request.client.name} use ${server.name}?`,
    formTarget: new URL(request.redirectUri).origin,
    body: html`<p>It will be able to use the assistants of the deployment <strong>${server.name}</strong> in the
workspace ${displayName} as tools, with your rights there, until you end its session. It sees nothing else of yours.</p>
<p>The answer goes to <strong>${placeOf(request)}</strong>. Nobody has checked the name that the client gives itself:
refuse if you have not just begun this yourself.</p>
<form method="post" action="${AUTHORIZATION_PAGE_PATH}">${fields}${hidden('answer', 'accept')}${submit('Allow')}</form>
<form method="post" action="${AUTHORIZATION_PAGE_PATH}">${fields}${hidden('answer', 'refuse')}${submit('Refuse', { isSecond: true })}</form>`,
  });
}

async function accept(
  { database, servers, issuer }: AuthorizationPageParts,
  { session, personId }: Visitor,
  request: AuthorizationRequest,
): Promise<Reply> {
  const server = await servers.requireReached(session, request.resource);
  const code = await database.transact(
    audited(async (transaction, audit) => {
      audit.record(server.organizationId, entryOf(request, server, personId, 'program.allowed'));
      return issueCode(transaction, request, { sessionId: session.id, personId, server });
    }),
  );
  return redirect(answerAddress(request, issuer, { code }));
}

async function refuse(
  { database, servers, issuer }: AuthorizationPageParts,
  { session, personId }: Visitor,
  request: AuthorizationRequest,
): Promise<Reply> {
  const server = await servers.requireReached(session, request.resource);
  await database.transact(
    audited(async (_transaction, audit) => {
      audit.record(server.organizationId, entryOf(request, server, personId, 'program.refused'));
    }),
  );
  return redirect(answerAddress(request, issuer, { error: 'access_denied' }));
}

function entryOf(
  { client, redirectUri }: AuthorizationRequest,
  { deploymentId, workspaceId }: McpServer,
  personId: string,
  action: 'program.allowed' | 'program.refused',
) {
  const ofClient = { client_id: client.id, client_name: client.name, redirect_host: new URL(redirectUri).host };
  const details = { ...ofClient, deployment_id: deploymentId, address: changeOrigin().address };
  return { action, resourceType: 'person', resourceId: personId, workspaceId, details };
}

/** Returns the place where a client gets the answer, in words. */
function placeOf({ redirectUri }: AskingClient): string {
  const { protocol, host } = new URL(redirectUri);
  return protocol === 'http:' ? 'a program on this computer' : host;
}
