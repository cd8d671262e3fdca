/** The folder of projects in their images, the same as in images built by the CLI. */
export const PROJECT_FOLDER = '/deps/project';
