import type { Permission } from '@runyard/contracts';
import type { Fields } from '../../http/fields.ts';
import { isFields } from '../../http/fields.ts';
import { type McpCall, type Outcome, value } from '../call.ts';
import { hasForms } from '../protocol/client.ts';
import { discovered, initialized } from '../protocol/server.ts';
import type { Sessions } from '../protocol/sessions.ts';
import { isOldRevision, OLD_REVISIONS } from '../protocol/versions.ts';
import type { TaskMethods } from './task-methods.ts';
import type { ToolMethods } from './tool-methods.ts';

/** A method of MCP. */
export interface Method {
  permission: Permission;
  run(call: McpCall, params: Fields): Promise<Outcome>;
}

/** The methods by their names: those of the stateless revision, and those of the revisions before it. */
export interface MethodTables {
  new: Readonly<Record<string, Method>>;
  old: Readonly<Record<string, Method>>;
}

export function methodTables(tools: ToolMethods, tasks: TaskMethods, sessions: Sessions): MethodTables {
  const list: Method = { permission: 'runs:read', run: (call, params) => tools.list(call, params) };
  const call: Method = { permission: 'runs:create', run: (asked, params) => tools.call(asked, params) };
  return {
    new: {
      'server/discover': { permission: 'runs:read', run: async () => value(discovered()) },
      'tools/list': list,
      'tools/call': call,
      'tasks/get': { permission: 'runs:read', run: (asked, params) => tasks.get(asked, params) },
      'tasks/update': { permission: 'runs:create', run: (asked, params) => tasks.update(asked, params) },
      'tasks/cancel': { permission: 'runs:update', run: (asked, params) => tasks.cancel(asked, params) },
    },
    old: {
      initialize: { permission: 'runs:read', run: async (_, params) => initialize(params, sessions) },
      ping: { permission: 'runs:read', run: async () => value({}) },
      'tools/list': list,
      'tools/call': call,
      'tasks/get': { permission: 'runs:read', run: (asked, params) => tasks.getOld(asked, params) },
      'tasks/result': { permission: 'runs:read', run: (asked, params) => tasks.resultOld(asked, params) },
      'tasks/list': { permission: 'runs:read', run: (asked, params) => tasks.listOld(asked, params) },
      'tasks/cancel': { permission: 'runs:update', run: (asked, params) => tasks.cancelOld(asked, params) },
    },
  };
}

/** A client that asks for a revision which is not spoken is offered the newest that it may know. */
function initialize({ protocolVersion, capabilities }: Fields, sessions: Sessions): Outcome {
  const revision = isOldRevision(protocolVersion) ? protocolVersion : OLD_REVISIONS[0];
  const asksUser = isFields(capabilities) && hasForms(capabilities.elicitation);
  return value(initialized(revision), { 'mcp-session-id': sessions.issue({ revision, asksUser }) });
}
