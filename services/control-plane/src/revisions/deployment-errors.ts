import { BadRequestError, NotFoundError } from '@runyard/service-kit';

/** Is alike for a deployment of another workspace and one that does not exist. */
export const deploymentNotFound = (id: string) =>
  new NotFoundError(`Deployment ID ${id} not found.`, { code: 'deployment_not_found' });

export const deploymentBeingDeleted = (id: string) =>
  new BadRequestError(`Deployment ID ${id} is being deleted.`, { code: 'deployment_being_deleted' });
