import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import { type ObjectStorage, ObjectStorageUnavailableError } from './object-storage.ts';

export interface S3Settings {
  bucket: string;
  /** Prefix of every path, without slashes at its ends; may be empty. */
  prefix: string;
  region: string;
  /** The address of a server that is not Amazon's. Its objects have path-style URLs: `endpoint/bucket/…`. */
  endpoint?: string | undefined;
  accessKeyId: string;
  secretAccessKey: string;
}

/** Milliseconds without data after which a request is given up and repeated. */
const IDLE_TIMEOUT_MS = 30_000;

/** Stores objects in a bucket of Amazon S3 or a compatible server. */
export class S3Storage implements ObjectStorage {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;

  constructor(settings: S3Settings) {
    const { accessKeyId, secretAccessKey, region, endpoint } = settings;
    this.#bucket = settings.bucket;
    this.#prefix = settings.prefix === '' ? '' : `${settings.prefix}/`;
    this.#client = new S3Client({
      region,
      credentials: { accessKeyId, secretAccessKey },
      ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
      // Not every server supports the newer checksums, which change the framing of bodies.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: { connectionTimeout: 5_000, socketTimeout: IDLE_TIMEOUT_MS },
    });
  }

  async put(path: string, file: string, signal?: AbortSignal): Promise<void> {
    const { size } = await stat(file);
    const Body = createReadStream(file);
    const command = new PutObjectCommand({ ...this.#addressOf(path), Body, ContentLength: size });
    try {
      await mapUnavailable(this.#client.send(command, signal ? { abortSignal: signal } : {}));
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      Body.destroy();
    }
  }

  async open(path: string, signal?: AbortSignal): Promise<Readable | null> {
    const command = new GetObjectCommand(this.#addressOf(path));
    try {
      const { Body } = await mapUnavailable(this.#client.send(command, signal ? { abortSignal: signal } : {}));
      return mapStreamErrors(Body as Readable);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof NoSuchKey) return null;
      throw error;
    }
  }

  async exists(path: string, signal?: AbortSignal): Promise<boolean> {
    const command = new HeadObjectCommand(this.#addressOf(path));
    try {
      await mapUnavailable(this.#client.send(command, signal ? { abortSignal: signal } : {}));
      return true;
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof NotFound) return false;
      throw error;
    }
  }

  async remove(path: string): Promise<void> {
    await mapUnavailable(this.#client.send(new DeleteObjectCommand(this.#addressOf(path))));
  }

  async removeBelow(prefix: string): Promise<void> {
    for (;;) {
      const { Contents = [], IsTruncated } = await mapUnavailable(
        this.#client.send(new ListObjectsV2Command({ Bucket: this.#bucket, Prefix: this.#prefix + prefix })),
      );
      const found = Contents.flatMap(({ Key }) => (Key === undefined ? [] : [{ Key }]));
      if (found.length > 0) {
        const { Errors = [] } = await mapUnavailable(
          this.#client.send(
            new DeleteObjectsCommand({ Bucket: this.#bucket, Delete: { Objects: found, Quiet: true } }),
          ),
        );
        if (Errors[0]) throw new Error(`${Errors[0].Key} could not be removed: ${Errors[0].Message}`);
      }
      if (!IsTruncated) return;
    }
  }

  close(): void {
    this.#client.destroy();
  }

  #addressOf(path: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: this.#prefix + path };
  }
}

async function mapUnavailable<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    const failure = error as Parameters<typeof isTransientError>[0];
    const isAway = isTransientError(failure) || isThrottlingError(failure) || isServerError(failure);
    throw isAway ? new ObjectStorageUnavailableError(error) : error;
  }
}

/** Returns the same bytes. When they end too early, the error says that the storage is unavailable. */
function mapStreamErrors(body: Readable): Readable {
  const bytes = async function* (): AsyncGenerator<Buffer> {
    try {
      yield* body;
    } catch (error) {
      throw new ObjectStorageUnavailableError(error);
    }
  };
  const stream = Readable.from(bytes(), { objectMode: false });
  // The body has to be destroyed even when nobody has read from the stream.
  stream.once('close', () => body.destroy());
  return stream;
}
