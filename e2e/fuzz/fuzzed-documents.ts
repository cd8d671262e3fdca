import type { ReadyFile } from '../harness/platform.ts';
import type { FuzzOptions } from './fuzz-document.ts';

/**
 * Returns each public document and the URL that serves it. The deployment comes first: the control plane's document
 * deletes it.
 */
export function listFuzzTargets({
  url,
  apiKey,
  deployments,
}: ReadyFile): Pick<FuzzOptions, 'document' | 'url' | 'apiKey'>[] {
  const [deployment] = deployments;
  if (!deployment) throw new Error('the platform has no deployment');
  return [
    { document: 'agent-server', url: deployment.url, apiKey },
    { document: 'control-plane', url, apiKey },
    { document: 'org-access', url, apiKey },
  ];
}
