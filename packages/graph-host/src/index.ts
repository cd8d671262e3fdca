export * from './auth.ts';
export * from './encryption.ts';
export * from './errors.ts';
export { type HostUser, hostUserOf } from './host-user.ts';
export {
  DEPTH_HEADER,
  EXCHANGE_HEADER,
  LOOPBACK_HEADER,
  type Loopback,
  RUN_HEADER,
  USER_HEADER,
} from './loopback-http.ts';
export * from './message-blocks.ts';
export { LineSplitter } from './output-lines.ts';
export { jsonHandlersOf, keyHandlersOf } from './parent/ask-encryption.ts';
export * from './parent/bundle-ui.ts';
export { embeddingsOf } from './parent/embed-texts.ts';
export { startGraphHost } from './parent/graph-host.ts';
export { hasLoopbackToken, type LoopbackServer, openLoopback } from './parent/loopback-server.ts';
export { SocketFolder } from './parent/socket-folder.ts';
export * from './project/index.ts';
export * from './protocol-event.ts';
export * from './stream-position.ts';
export * from './types.ts';
export { decodeUser, encodeUser } from './user-header.ts';
