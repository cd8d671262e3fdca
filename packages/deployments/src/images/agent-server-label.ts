/** Set by the base image, and so by every image built from it: such an image follows the protocol of docs/images.md. */
export const AGENT_SERVER_LABEL = 'io.runyard.agent-server';
export const AGENT_SERVER_VERSION = '1';
