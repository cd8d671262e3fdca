export { type AddressKind, kindOfAddress } from './address-kind.ts';
export type { Lookup } from './checked-lookup.ts';
export { OutboundRefusedError } from './errors.ts';
export {
  type OutboundAnswer,
  OutboundClient,
  type OutboundDownload,
  type OutboundRequest,
  type OutboundStream,
} from './outbound-client.ts';
export { OutboundPolicy, type OutboundRules } from './outbound-policy.ts';
export { ResolvedNames } from './resolved-names.ts';
