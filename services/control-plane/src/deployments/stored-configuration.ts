import { SecretReference, SourceRevisionConfig } from '@runyard/contracts';
import { StoredSourceConfig } from '@runyard/deployments';
import Type from 'typebox';
import { Clean } from 'typebox/value';
import type { Prisma } from '../generated/client.ts';
import type { DesiredSpec } from './deployment-changes.ts';

const SecretReferences = Type.Array(SecretReference);

type Configuration = Pick<DesiredSpec, 'sourceConfig' | 'sourceRevisionConfig' | 'secretReferences'>;

/** Returns a deployment's configuration as it is stored, without fields that the contract does not know. */
export function toStoredConfiguration(desired: Configuration): {
  sourceConfig: Prisma.InputJsonObject;
  sourceRevisionConfig: Prisma.InputJsonObject;
  secretReferences: Prisma.InputJsonArray;
} {
  // Clean changes its argument.
  const { sourceConfig, sourceRevisionConfig, secretReferences } = structuredClone(desired);
  return {
    sourceConfig: Clean(StoredSourceConfig, sourceConfig) as Prisma.InputJsonObject,
    sourceRevisionConfig: Clean(SourceRevisionConfig, sourceRevisionConfig) as Prisma.InputJsonObject,
    secretReferences: Clean(SecretReferences, secretReferences) as Prisma.InputJsonArray,
  };
}
