import { AGENT_SERVER_OPERATIONS, type Operation } from '@runyard/contracts';

const byId = new Map(AGENT_SERVER_OPERATIONS.map((operation) => [operation.operationId, operation]));

export function getOperation(operationId: string): Operation {
  const operation = byId.get(operationId);
  if (!operation) throw new Error(`the contract has no operation ${operationId}`);
  return operation;
}

/** Returns the operation of a request: of all paths that match, the one with the fewest placeholders. */
export function findOperation(method: string, path: string): Operation | undefined {
  return AGENT_SERVER_OPERATIONS.filter(
    (operation) => operation.method === method.toLowerCase() && fits(operation.path, path),
  ).sort((a, b) => placeholders(a.path) - placeholders(b.path))[0];
}

function fits(template: string, path: string): boolean {
  const wanted = template.split('/');
  const given = path.split('/');
  return wanted.length === given.length && wanted.every((part, index) => part.startsWith('{') || part === given[index]);
}

function placeholders(template: string): number {
  return template.split('{').length - 1;
}
