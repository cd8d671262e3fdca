import { join } from 'node:path';
import type { SourceConfig, SourceRevisionConfig } from '@runyard/contracts';
import type { RolloutRevision } from '@runyard/deployments';
import { BuildError } from '@runyard/deployments';
import { BadRequestError } from '@runyard/service-kit';
import type { BuildSource } from '../../builds/build-source.ts';
import type { BuildSources } from '../../builds/builds.ts';
import type { PrismaClient } from '../../generated/client.ts';
import { fetchCommit } from './fetch-commit.ts';
import { fullRef, type RepositoryRules, resolveRepository } from './repository-url.ts';

/** The ref by which git servers name the default branch of a repository. */
const DEFAULT_BRANCH = 'HEAD';

export interface GithubSourceOptions {
  prisma: PrismaClient;
  rules: RepositoryRules;
  dataDir: string;
  /** Returns the token of the deployment's integration; null without one. */
  tokenOf(revision: RolloutRevision): Promise<string | null>;
}

/** Provides commits of repositories as sources of `github` revisions, fetched with plain git. */
export function githubSources(options: GithubSourceOptions): BuildSources {
  return { github: async (revision) => githubSource(revision, options) };
}

function githubSource(
  revision: RolloutRevision,
  { prisma, rules, dataDir, tokenOf }: GithubSourceOptions,
): BuildSource {
  const { repo_url: repoUrl } = revision.sourceConfig as SourceConfig;
  const { repo_ref: ref, repo_commit_sha: sha } = revision.sourceRevisionConfig as SourceRevisionConfig;
  if (repoUrl == null) throw new Error(`revision ${revision.id} has no source`);
  return {
    // A branch moves, so every revision may have another commit.
    key: `${repoUrl} ${revision.id}`,
    async fetch(folder, { signal, say }) {
      const wanted = sha ?? (ref == null ? DEFAULT_BRANCH : fullRef(ref));
      say(`Fetching ${wanted} of ${repoUrl}`);
      const repository = await resolveRepository(repoUrl, rules).catch((error: unknown) => {
        throw error instanceof BadRequestError ? new BuildError(error.message, { cause: error }) : error;
      });
      const temporaryFolder = join(dataDir, 'git');
      const token = await tokenOf(revision);
      const commit = await fetchCommit({ repository, ref: wanted, token, folder, temporaryFolder, signal });
      say(`This is commit ${commit}`);
      await recordCommit(prisma, revision.id, commit);
    },
  };
}

/** Stores the commit in the revision, and in the deployment if this is its latest revision. */
async function recordCommit(prisma: PrismaClient, revisionId: string, commit: string): Promise<void> {
  await prisma.$executeRaw`
    WITH found AS (SELECT jsonb_build_object('repo_commit_sha', ${commit}::text) AS fields), built AS (
      UPDATE revision SET source_revision_config = source_revision_config || found.fields
      FROM found WHERE id = ${revisionId}::uuid)
    UPDATE deployment SET source_revision_config = source_revision_config || found.fields
    FROM found WHERE latest_revision_id = ${revisionId}::uuid`;
}
