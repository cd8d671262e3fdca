import {
  describeProjectBase,
  keepProjectImages,
  makeProjectImage,
  type PlatformImage,
  type ProjectImageAnswer,
  type ProjectImageRequest,
  prepareProjectImage,
} from '@runyard/contracts';
import { BuildError } from '@runyard/deployments';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { ImageRevision, Progress, ProjectImages } from './project-images.ts';

/** Binds what control-plane asks of images of projects. */
export function projectImageRoutes(images: ProjectImages): BoundOperation[] {
  return [
    bind(describeProjectBase, async ({ signal }) => {
      const { result: architecture, failure } = await reportFailure(images.findArchitecture(signal));
      return ok({ architecture, failure });
    }),
    bind(prepareProjectImage, async ({ body, signal }) =>
      ok(await answer(signal, (progress) => images.prepare(revisionOf(body), progress))),
    ),
    bind(makeProjectImage, async ({ body, signal }) =>
      ok(await answer(signal, (progress) => images.make(revisionOf(body), body.layer, progress))),
    ),
    bind(keepProjectImages, async ({ body }) => {
      await images.keepOnly(body.deployment_id, body.revision_ids, body.builds);
      return ok({});
    }),
  ];
}

/** Ends with the request: whoever asked is gone, or asks again. */
async function answer(
  signal: AbortSignal,
  work: (progress: Progress) => Promise<PlatformImage | null>,
): Promise<ProjectImageAnswer> {
  const log: string[] = [];
  const { result: image, failure } = await reportFailure(work({ say: (line) => log.push(line), signal }));
  return { image, failure, log };
}

/** Tells what is at fault in the project or its base from what is at fault here. */
async function reportFailure<Result>(
  work: Promise<Result>,
): Promise<{ result: Result | null; failure: string | null }> {
  try {
    return { result: await work, failure: null };
  } catch (error) {
    if (error instanceof BuildError) return { result: null, failure: error.message };
    throw error;
  }
}

function revisionOf({ deployment_id: deploymentId, revision_id: id, build }: ProjectImageRequest): ImageRevision {
  return { deploymentId, id, build };
}
