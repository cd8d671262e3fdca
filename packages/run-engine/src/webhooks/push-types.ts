/** The version of A2A in whose form a push notification is sent. */
export type PushVersion = '1.0' | '0.3';

/** A place where the end of a task is sent. */
export interface PushConfig {
  configId: string;
  taskId: string;
  threadId: string;
  url: string;
  /** The host with its port, as in `WebhookTarget`. */
  host: string;
  version: PushVersion;
  /** Credentials of the receiver. They are stored encrypted. */
  secrets: PushSecrets;
}

export interface PushSecrets {
  token?: string | undefined;
  authentication?: { scheme: string; credentials?: string | undefined } | undefined;
}

/** The part of a delivery that makes it a push notification. */
export interface PushDelivery {
  taskId: string;
  configId: string;
  version: PushVersion;
  secrets: PushSecrets;
}
