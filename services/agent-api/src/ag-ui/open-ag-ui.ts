import type { IdempotencyKeys } from '@runyard/idempotency';
import type { ByteBudget } from '@runyard/service-kit';
import type { Assistants } from '../assistants/open-assistants.ts';
import type { Authorizer } from '../auth/authorizer.ts';
import type { GuardedOperation, RouteGuard } from '../auth/route-guard.ts';
import type { PickHeaders } from '../http/header-choice.ts';
import type { RunService } from '../runs/run-service.ts';
import type { ThreadStore } from '../threads/thread-store.ts';
import { agUiRoutes } from './ag-ui-routes.ts';
import { AgUiRuns } from './ag-ui-runs.ts';
import type { SendRunSources } from './send-run.ts';

export interface AgUiParts {
  assistants: Assistants;
  threads: ThreadStore;
  runs: RunService;
  sources: SendRunSources;
  /** Bytes of all large results that answers of this process hold. */
  resultBudget: ByteBudget;
  keys: IdempotencyKeys;
  configurableHeaders: PickHeaders;
  guard: RouteGuard;
  /** Left out where the project does not decide about callers. */
  authorizer: Pick<Authorizer, 'authorize'> | undefined;
}

/** Opens AG-UI: assistants for pages that show what they do. */
export function openAgUi(parts: AgUiParts): { routes: GuardedOperation[] } {
  const { assistants, threads, sources, resultBudget, guard, runs: service, ...others } = parts;
  const runs = new AgUiRuns({
    ...others,
    assistants: assistants.service,
    inputKeys: assistants.inputKeys,
    threads,
    runs: service,
    budget: resultBudget,
  });
  return { routes: agUiRoutes(runs, sources, guard) };
}
