import { readFile } from 'node:fs/promises';
import { loadAllYaml } from '@kubernetes/client-node';
import type { Rule } from './api-server.ts';

/** Returns the rules that the manifest in infra/kubernetes grants the control plane. */
export async function grantedRules(): Promise<Rule[]> {
  const path = new URL('../../../../infra/kubernetes/data-plane-rbac.yaml', import.meta.url);
  const objects = loadAllYaml(await readFile(path, 'utf8')) as { kind: string; rules?: Rule[] }[];
  return objects.flatMap(({ kind, rules }) => (kind === 'Role' ? (rules ?? []) : []));
}
