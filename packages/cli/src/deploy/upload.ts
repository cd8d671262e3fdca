import { createReadStream } from 'node:fs';
import { Transform } from 'node:stream';
import { UPLOAD_BYTES_MAX, UPLOAD_CONTENT_TYPE, UPLOAD_RANGE_HEADER, type UploadUrl } from '@runyard/contracts';
import type { Http } from '../connection/http.ts';
import { PlatformRefusedError } from '../connection/refusals.ts';
import type { Progress } from '../output/progress-event.ts';
import { type Archive, MEBIBYTE } from '../project/archive.ts';

/** Allows slow connections: at 128 KiB/s an archive of the largest size is uploaded in half an hour. */
const TIMEOUT_MS = 30 * 60_000;

/**
 * Uploads an archive to the platform's URL without a key, because the URL is signed. Starts over when the connection
 * breaks.
 */
export async function uploadArchive(options: {
  http: Http;
  target: UploadUrl;
  archive: Archive;
  progress: Progress;
}): Promise<void> {
  const { http, target, archive, progress } = options;
  const answer = await http.send({
    method: 'PUT',
    url: target.upload_url,
    headers: {
      'content-type': UPLOAD_CONTENT_TYPE,
      'content-length': String(archive.bytes),
      ...(target.upload_headers ?? { [UPLOAD_RANGE_HEADER]: `0,${UPLOAD_BYTES_MAX}` }),
    },
    body: () => createReadStream(archive.path).pipe(createUploadCounter(archive, progress)),
    isRepeatable: true,
    timeoutMs: TIMEOUT_MS,
  });
  if (answer.status < 200 || answer.status > 299) throw new PlatformRefusedError('The upload', answer);
  progress.report({ event: 'upload_progress', size_mb: toMebibytes(archive.bytes), pct: 100 });
}

/** Reports each percent that was sent, the last one only when the archive is stored. */
function createUploadCounter({ bytes }: Archive, progress: Progress): Transform {
  let sent = 0;
  let reportedPercent = -1;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sent += chunk.length;
      const percent = Math.min(99, Math.floor((sent * 100) / bytes));
      if (percent > reportedPercent)
        progress.report({ event: 'upload_progress', size_mb: toMebibytes(bytes), pct: percent });
      reportedPercent = percent;
      done(null, chunk);
    },
  });
}

function toMebibytes(bytes: number): number {
  return Math.round((bytes / MEBIBYTE) * 10) / 10;
}
