import { HOST_NAME_PATTERN, SourceConfig } from '@runyard/contracts';
import Type, { type Static } from 'typebox';

/** `source_config` as it is stored: `custom_url` is always a URL there, which earlier releases expect. */
export const StoredSourceConfig = Type.Object({
  ...SourceConfig.properties,
  /** The name of a host, where the caller sent that alone. */
  custom_url_as_sent: Type.Optional(Type.String()),
});
export type StoredSourceConfig = Static<typeof StoredSourceConfig>;

const HOST_NAME = new RegExp(HOST_NAME_PATTERN);

/** Returns the fields for a `custom_url`. The name of a host stands for its root over HTTPS. */
export function toStoredUrl(url: string): Pick<StoredSourceConfig, 'custom_url' | 'custom_url_as_sent'> {
  return HOST_NAME.test(url) ? { custom_url: urlOfHost(url), custom_url_as_sent: url } : { custom_url: url };
}

/** Returns the `custom_url` byte for byte as it was sent. An earlier release may have changed it since. */
export function toSentUrl({
  custom_url: url,
  custom_url_as_sent: sent,
}: StoredSourceConfig): string | null | undefined {
  return sent !== undefined && url === urlOfHost(sent) ? sent : url;
}

const urlOfHost = (name: string) => `https://${name}`;
