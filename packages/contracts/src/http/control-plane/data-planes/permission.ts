import type { OperationPermission } from '../../../permissions.ts';

/** A data plane gets the secrets of deployments, which callers that may update deployments may read as well. */
export const DATA_PLANE_PERMISSION: OperationPermission = ['deployments:update', 'listener:speak', 'platform:speak'];

/** The platform's own data planes alone: what others keep themselves, all of these share. */
export const PLATFORM_DATA_PLANE_PERMISSION: OperationPermission = 'platform:speak';
