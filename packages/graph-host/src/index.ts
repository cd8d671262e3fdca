export * from './errors.ts';
export { DEPTH_HEADER, EXCHANGE_HEADER, LOOPBACK_HEADER, type Loopback, RUN_HEADER } from './local-http.ts';
export { LineSplitter } from './output-lines.ts';
export * from './parent/bundle-ui.ts';
export { embeddingsOf } from './parent/embed-texts.ts';
export { startGraphHost } from './parent/graph-host.ts';
export { isFrom, type LoopbackServer, openLoopback, SocketFolder } from './parent/local-server.ts';
export * from './project/index.ts';
export * from './types.ts';
