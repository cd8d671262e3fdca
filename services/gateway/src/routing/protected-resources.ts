import type { IncomingMessage } from 'node:http';
import {
  DEPLOYMENTS_PREFIX,
  type DeploymentRoute,
  isMcpResource,
  MCP_PATH,
  MCP_SCOPE,
  type Permission,
  PROTECTED_RESOURCE_PATH,
  type PrincipalClaims,
} from '@runyard/contracts';
import { isHost } from '@runyard/service-kit';
import type { PublicAddress } from '../requests/same-origin.ts';
import type { DeploymentHosts } from './deployment-hosts.ts';
import type { DeploymentTable } from './deployment-table.ts';
import { isMcp, pathBelow } from './keyless-paths.ts';
import type { Destination } from './resolve-path.ts';

/** The metadata of a protected resource (RFC 9728). */
export interface ProtectedResource {
  /** The address for which tokens are issued. */
  resource: string;
  authorization_servers: string[];
  scopes_supported: string[];
  bearer_methods_supported: string[];
}

type ToDeployment = Destination & { kind: 'deployment' };

/**
 * The addresses for which org-access issues tokens are those of deployments. The root of a machine of one person is none:
 * clients that need one ask for the deployment at its own.
 */
const hasTokens = (destination: Destination): destination is ToDeployment =>
  destination.kind === 'deployment' && destination.by !== 'root';

/** The permissions without which an MCP client can do nothing. */
const NEEDED: readonly Permission[] = ['runs:read', 'runs:create'];

/**
 * Tells MCP clients where they get tokens for a deployment: at the platform. A deployment that checks its callers itself
 * may know other issuers, and answers for itself.
 */
export class ProtectedResources {
  readonly #table: DeploymentTable;
  readonly #hosts: DeploymentHosts;
  readonly #publicUrl: URL;
  /** The name that org-access gives itself: clients compare. */
  readonly #issuer: string;

  constructor(options: { table: DeploymentTable; hosts: DeploymentHosts; publicUrl: string }) {
    this.#table = options.table;
    this.#hosts = options.hosts;
    this.#issuer = options.publicUrl.replace(/(?<!\/)\/+$/, '');
    this.#publicUrl = new URL(this.#issuer);
  }

  /** Returns the metadata that a request asks for; undefined for any other request, and for what is not known here. */
  describe(req: IncomingMessage, destination: Destination, address: PublicAddress): ProtectedResource | undefined {
    if (!hasTokens(destination) || !isReading(req.method)) return undefined;
    if (!destination.path.includes(PROTECTED_RESOURCE_PATH)) return undefined;
    const route = this.#find(destination);
    const path = route && !route.has_custom_auth ? resourceIn(destination.path, route.mount_prefix) : undefined;
    if (path === undefined) return undefined;
    return {
      resource: this.#baseOf(destination, address) + path,
      authorization_servers: [this.#issuer],
      scopes_supported: [MCP_SCOPE],
      bearer_methods_supported: ['header'],
    };
  }

  /**
   * Returns `WWW-Authenticate` for an answer of an MCP server of which the client can make something: it has no good token
   * (401), or one of a person who lacks permissions (403). Undefined for any other answer.
   */
  challenge(
    destination: Destination,
    address: PublicAddress,
    { status, claims }: { status: number; claims: Pick<PrincipalClaims, 'permissions'> | undefined },
  ): string | undefined {
    if (!hasTokens(destination) || (status !== 401 && status !== 403)) return undefined;
    const route = this.#find(destination);
    if (route?.has_custom_auth || !isMcp(destination.path, route?.mount_prefix)) return undefined;
    const lacksPermission = claims !== undefined && !NEEDED.every((each) => claims.permissions.includes(each));
    if (status === 403 && !lacksPermission) return undefined;
    const path = destination.path.replace(/\/$/, '');
    const prefix = path.slice(0, -MCP_PATH.length);
    const metadata = `${this.#baseOf(destination, address)}${prefix}${PROTECTED_RESOURCE_PATH}${MCP_PATH}`;
    const error = status === 403 ? 'error="insufficient_scope", ' : '';
    return `Bearer ${error}resource_metadata="${metadata}", scope="${MCP_SCOPE}"`;
  }

  #find({ by, reference }: ToDeployment): DeploymentRoute | undefined {
    return by === 'host' ? this.#hosts.find(reference) : this.#table.find(reference);
  }

  /** Returns the address of the deployment as the client wrote it: clients compare it with what they asked. */
  #baseOf({ by, reference }: ToDeployment, { host }: PublicAddress): string {
    const { protocol, pathname } = this.#publicUrl;
    // A proxy that is not trusted hides HTTPS, which the setting knows.
    const root = `${protocol}//${isHost(host) ? host : this.#publicUrl.host}`;
    if (by === 'host') return root;
    return new URL(`${root}${pathname.replace(/\/$/, '')}${DEPLOYMENTS_PREFIX}/${reference}`).href;
  }
}

function isReading(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Returns the path of the resource of which a path has the metadata: it stands before that path, or within it. */
function resourceIn(path: string, mountPrefix: string | null | undefined): string | undefined {
  const below = pathBelow(mountPrefix, path);
  const resource = below?.startsWith(PROTECTED_RESOURCE_PATH)
    ? `${mountPrefix}${below.slice(PROTECTED_RESOURCE_PATH.length)}`
    : path.startsWith(PROTECTED_RESOURCE_PATH)
      ? path.slice(PROTECTED_RESOURCE_PATH.length)
      : undefined;
  return resource !== undefined && isMcpResource(resource, mountPrefix) ? resource : undefined;
}
