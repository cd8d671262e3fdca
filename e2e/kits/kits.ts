import { a2aLint } from './a2a-lint/kit.ts';
import { a2aTck03, a2aTck10 } from './a2a-tck/kits.ts';
import { agUiValidate } from './ag-ui-validate/kit.ts';
import { agentMemoryIntegrity } from './agent-memory-integrity/kit.ts';
import { crashresume } from './crashresume/kit.ts';
import type { Kit } from './kit.ts';
import { ociDistribution } from './oci-distribution/kit.ts';
import { scim2Tester } from './scim2-tester/kit.ts';

/** Every kit of `npm run test:kits`. */
export const KITS: readonly Kit[] = [
  scim2Tester,
  a2aLint,
  agUiValidate,
  a2aTck10,
  a2aTck03,
  ociDistribution,
  crashresume,
  agentMemoryIntegrity,
];
