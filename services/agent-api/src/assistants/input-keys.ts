import { UNRESTRICTED } from '../access/scope.ts';
import type { AssistantGraphService } from './assistant-graph-service.ts';
import { RememberedByVersion } from './remembered-by-version.ts';

/** Knows the keys of the input of assistants; undefined where they are not known. A factory may be slow to make a graph. */
export class InputKeys extends RememberedByVersion<ReadonlySet<string> | undefined> {
  constructor(graphs: Pick<AssistantGraphService, 'inputKeys'>) {
    super({
      look: (id) => graphs.inputKeys({ scope: UNRESTRICTED, headers: {} }, id),
      unknown: undefined,
      bytesOf: (keys) => [...(keys ?? [])].reduce((sum, key) => sum + key.length, 0),
    });
  }
}
