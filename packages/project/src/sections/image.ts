import Type from 'typebox';
import { noEffect } from './no-effect.ts';

const ONLY_IMAGES = 'it only shapes container images, and none is built from this file';

/** Keys for building a container image of the project. */
export const imageSections = {
  dockerfile_lines: noEffect(
    Type.Array(Type.String(), { description: 'Lines put into the Dockerfile of the project.' }),
    '`runyard build` alone has a Dockerfile, and puts them there',
  ),
  docker_compose_file: noEffect(
    Type.String({ description: 'A compose file started beside the project.' }),
    'it only concerns the official command, and nothing is started from it',
  ),
  api_version: noEffect(
    Type.String({
      pattern: '^\\d+(\\.\\d+(\\.\\d+)?)?([-.]?[A-Za-z][0-9A-Za-z.-]*)?$',
      description: 'Release of the official server image: `major[.minor[.patch]]` with an optional pre-release.',
    }),
    'it names a release of the official server; `/info` tells the level that is served',
  ),
  base_image: noEffect(Type.String({ description: 'Image to build on.' }), ONLY_IMAGES),
  image_distro: noEffect(
    Type.Union([Type.Literal('debian'), Type.Literal('wolfi'), Type.Literal('bookworm'), Type.Literal('bullseye')], {
      default: 'debian',
      description: 'Linux distribution of the image.',
    }),
    ONLY_IMAGES,
  ),
  _INTERNAL_docker_tag: noEffect(Type.String({ description: 'Tag of the official base image.' }), ONLY_IMAGES),
};
