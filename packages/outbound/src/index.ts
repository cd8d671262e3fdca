export type { Lookup } from './checked-lookup.ts';
export { OutboundRefusedError } from './errors.ts';
export { HostnameChecker } from './hostname-checker.ts';
export {
  OutboundClient,
  type OutboundRequest,
  type OutboundResponse,
  type OutboundStreamResponse,
} from './outbound-client.ts';
export { OutboundPolicy, type OutboundRules } from './outbound-policy.ts';
