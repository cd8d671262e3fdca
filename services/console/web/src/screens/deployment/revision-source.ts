import type { Revision } from '@runyard/contracts';

const COMMIT_LENGTH = 12;

/** Returns where the code of a revision comes from, in a few words. */
export function sourceText({ source, source_revision_config: config }: Revision): string {
  switch (source) {
    case 'github':
      return ['Git', config.repo_ref, config.repo_commit_sha?.slice(0, COMMIT_LENGTH)].filter(Boolean).join(' ');
    case 'external_docker':
    case 'internal_docker':
      return `Image ${config.image_uri ?? ''}`.trim();
    case 'internal_source':
      return 'Uploaded archive';
    case 'local_directory':
      return 'Folder of the machine';
  }
}
