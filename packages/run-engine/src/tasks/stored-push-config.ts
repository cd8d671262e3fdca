import type { DataCipher } from '@runyard/encryption';
import { encodeSecrets } from '../webhooks/push-secrets.ts';
import type { PushConfig } from '../webhooks/push-types.ts';

/** A configuration with its secrets as they are stored. */
export interface StoredPushConfig extends Omit<PushConfig, 'secrets'> {
  secrets: Buffer;
}

export function encodePushConfig(config: PushConfig, cipher: DataCipher): StoredPushConfig {
  return { ...config, secrets: encodeSecrets(config.secrets, cipher) };
}
