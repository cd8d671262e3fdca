import type { Scope } from './scope.ts';

/** Checks that a run exists and that the caller may see it. @throws NotFoundError */
export type RequireRun = (scope: Scope, threadId: string, runId: string) => Promise<unknown>;
