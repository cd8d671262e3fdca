import type { LocalProject } from './local-directory.ts';

/** The code of a revision: a project on this machine's disk, or an image that contains one. */
export type Artifact = { kind: 'project'; project: LocalProject } | ImageArtifact;

export interface ImageArtifact {
  kind: 'image';
  imageUri: string;
  /**
   * The project's variables that tune the platform's services, as far as they are known. The deployment's override
   * them.
   */
  settings?: Record<string, string>;
  /** The architecture in Docker's notation. Undefined when it is not known; then the image may support several. */
  architecture?: string;
}
