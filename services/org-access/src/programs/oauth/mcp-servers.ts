import { DeploymentAtUrl, type DeploymentUrlRequest, isMcpResource } from '@runyard/contracts';
import { ForbiddenError, type InternalClient, UnavailableError } from '@runyard/service-kit';
import { accessOf } from '../../access/access.ts';
import type { PrismaClient, Session } from '../../generated/client.ts';
import { chooseIdentity } from '../../sign-in/tokens/session-scope.ts';
import { invalidRequest } from './oauth-error.ts';

/** The MCP server of a deployment, for which tokens are issued. */
export interface McpServer {
  /** Its address, or that of its deployment, as the client named it. */
  resource: string;
  deploymentId: string;
  name: string;
  workspaceId: string;
  organizationId: string;
}

/** Finds the deployment that a client asks for by the address of its MCP server. */
export class McpServers {
  readonly #prisma: PrismaClient;
  readonly #controlPlane: InternalClient | null;

  /** @param options.controlPlane null: there is none to ask, and nobody gets tokens for MCP servers */
  constructor(options: { prisma: PrismaClient; controlPlane: InternalClient | null }) {
    this.#prisma = options.prisma;
    this.#controlPlane = options.controlPlane;
  }

  /**
   * Returns the MCP server at an address, if the person of a session reaches it. One that does not exist and one of others
   * are the same refusal.
   *
   * @throws BadRequestError, UnavailableError, and ForbiddenError when the organization requires single sign-on
   */
  async requireReached(session: Session, resource: string): Promise<McpServer> {
    const url = canonicalResource(resource);
    const server = url === undefined ? undefined : await this.#findAt(url);
    if (!server || !(await this.#reaches(session, server)))
      throw invalidRequest('invalid_target', 'There is no MCP server at this address that you can use');
    return server;
  }

  async #findAt(url: string): Promise<McpServer | undefined> {
    const question: DeploymentUrlRequest = { url };
    try {
      if (this.#controlPlane === null) throw new Error('CONTROL_PLANE_URL is not set');
      const { deployment } = await this.#controlPlane.ask(
        '/internal/deployments/find-by-url',
        question,
        DeploymentAtUrl,
      );
      // A project that checks its callers itself would not know the tokens.
      if (!deployment || deployment.has_custom_auth || !isMcpResource(deployment.path, deployment.mount_prefix))
        return undefined;
      const { deployment_id, name, workspace_id, organization_id } = deployment;
      const owners = { workspaceId: workspace_id, organizationId: organization_id };
      return { resource: url, deploymentId: deployment_id, name, ...owners };
    } catch (cause) {
      throw new UnavailableError('MCP servers are not known at the moment', { code: 'mcp_servers_unavailable', cause });
    }
  }

  async #reaches(session: Session, { organizationId, workspaceId }: McpServer): Promise<boolean> {
    try {
      const identity = await chooseIdentity(this.#prisma, session, { organization_id: organizationId });
      const access = identity && (await accessOf(this.#prisma, { ...identity, workspaceId }));
      return access?.workspace != null;
    } catch (error) {
      if (error instanceof ForbiddenError && error.code !== 'sso_required') return false;
      throw error;
    }
  }
}

/** Returns the address in the form in which addresses are compared; undefined for a text that is none (RFC 8707). */
export function canonicalResource(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isPlain = url.search === '' && url.hash === '' && url.username === '' && url.password === '';
  return isPlain && /^https?:$/.test(url.protocol) ? url.href.replace(/(?<!\/)\/+$/, '') : undefined;
}
