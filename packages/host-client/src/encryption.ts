/** Types of the questions to the encryption object of a project, and of its answers. */
import type { ProjectExport } from '@runyard/host-protocol';

/** Bytes that the project's handlers encrypt or decrypt. */
export interface CryptRequest {
  source: ProjectExport;
  action: 'encrypt' | 'decrypt';
  /** The context, as the project chose it. */
  metadata: Record<string, unknown>;
  bytes: Uint8Array;
}

export interface CryptAnswer {
  bytes: Uint8Array;
  /** After `decrypt`: the form to store from now on, since the project has changed its own key. */
  replacement?: Uint8Array | undefined;
}

/** JSON, and what it is a part of. */
export interface PlacedJson {
  place: { model: string; field: string };
  data: Record<string, unknown>;
}

/** JSON that the project's handlers encrypt or decrypt: all of it in one context. */
export interface CryptJsonRequest {
  source: ProjectExport;
  action: 'encrypt' | 'decrypt';
  /** The context, as the project chose it. */
  metadata: Record<string, unknown>;
  objects: PlacedJson[];
}

/** An object as a handler has changed it; or an EncryptionHandlerError. */
export type CryptJsonAnswer = Record<string, unknown> | Error;
