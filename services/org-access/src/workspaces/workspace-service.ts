import type { Workspace, WorkspaceCreate } from '@runyard/contracts';
import { ForbiddenError, type Principal } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { accessOf, reachableWorkspaces } from '../access/access.ts';
import type { PrismaClient } from '../generated/client.ts';

export class WorkspaceService {
  readonly #prisma: PrismaClient;

  constructor(options: { prisma: PrismaClient }) {
    this.#prisma = options.prisma;
  }

  async list(caller: Principal): Promise<Workspace[]> {
    const scope = { organizationId: caller.organizationId, identityId: caller.identity };
    const rows = await reachableWorkspaces(this.#prisma, scope);
    return Promise.all(rows.map((row) => this.#render(caller, row)));
  }

  async create(caller: Principal, body: WorkspaceCreate): Promise<Workspace> {
    if (!caller.permissions.includes('organization:manage')) {
      throw new ForbiddenError('Only organization administrators make workspaces');
    }
    const row = await this.#prisma.workspace.create({
      data: { id: uuidv7(), organizationId: caller.organizationId, displayName: body.display_name },
    });
    return this.#render(caller, row);
  }

  async #render(
    caller: Principal,
    row: { id: string; organizationId: string; displayName: string; createdAt: Date },
  ): Promise<Workspace> {
    const { organizationId, identity: identityId } = caller;
    const access = await accessOf(this.#prisma, { organizationId, identityId, workspaceId: row.id });
    return {
      id: row.id,
      organization_id: row.organizationId,
      created_at: row.createdAt.toISOString(),
      display_name: row.displayName,
      is_personal: false,
      is_deleted: false,
      permissions: access?.workspace ?? [],
    };
  }
}
