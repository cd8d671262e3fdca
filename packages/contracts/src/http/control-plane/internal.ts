import { defineOperation } from '../../operation.ts';
import { RouteSnapshot } from '../internal/routes.ts';

export const getRoutes = defineOperation({
  operationId: 'getRoutes',
  method: 'get',
  path: '/internal/routes',
  summary: 'Where every deployment can be reached now; changes follow on the event bus.',
  tags: ['internal'],
  access: 'internal',
  responses: { 200: { description: 'All routes.', schema: RouteSnapshot } },
});
