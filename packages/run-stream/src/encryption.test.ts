import { randomUUID } from 'node:crypto';
import { createDataCipher, type DataCipher, EncryptionError, NO_ENCRYPTION } from '@runyard/encryption';
import { waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StreamFixture } from './test/stream-fixture.ts';

const SECRET = 'the cat is in the kettle';
const cipher = createDataCipher('k'.repeat(32));

let fixture: StreamFixture;
beforeEach(() => {
  fixture = new StreamFixture();
});
afterEach(() => fixture.close());

describe('a stream with a key', () => {
  it('shows what its graph does neither in Redis nor to whoever listens there, and delivers it as it was', async () => {
    const streams = fixture.open({ cipher });
    const live = fixture.collect({}, streams);
    const messages: string[] = [];
    const eavesdropper = fixture.admin.duplicate();
    eavesdropper.on('message', (_channel, message) => messages.push(message));
    await eavesdropper.subscribe(fixture.key('live'));
    await fixture.listened(2);
    const said = { runId: fixture.run, attempt: 1, kind: 'values', event: 'values|kettle:1', data: `"${SECRET}"` };
    await streams.append({ threadId: fixture.thread, epoch: 1n }, [said], { resumable: true });
    await fixture.append(['é'], { by: streams });
    expect(await live.until(2)).toEqual([SECRET, 'é']);
    const stored = fixture.collect({ runId: fixture.run }, fixture.open({ cipher }));
    await stored.until(2);
    expect(stored.got[0]).toMatchObject({ ...said, isResumable: true });
    await waitFor(() => messages.length === 2, { what: 'both messages' });
    eavesdropper.disconnect();
    for (const text of [await fixture.redis.contents(), messages.join()]) {
      expect(text).toContain(fixture.run);
      expect(text).not.toMatch(/kettle|values/);
    }
  });

  it('delivers entries from before there was a key', async () => {
    await fixture.append(['before']);
    await fixture.append(['after'], { by: fixture.open({ cipher }) });
    expect(await fixture.collect({}, fixture.open({ cipher })).until(2)).toEqual(['before', 'after']);
  });

  it('waits for the key of entries that come live, and loses none', async () => {
    let load: () => void = () => undefined;
    let loading: Promise<void> | undefined = new Promise((resolve) => {
      load = resolve;
    });
    const late: DataCipher = {
      ...cipher,
      loadKeys: () => loading,
      decrypt(bytes) {
        if (loading) throw new EncryptionError('not yet');
        return cipher.decrypt(bytes);
      },
    };
    const live = fixture.collect({}, fixture.open({ cipher: late }));
    await fixture.listened();
    await fixture.append(['one', 'two'], { by: fixture.open({ cipher }) });
    load();
    loading = undefined;
    await fixture.append(['three'], { by: fixture.open({ cipher }) });
    expect(await live.until(3)).toEqual(['one', 'two', 'three']);
  });

  it('of a tenant whose key is not to be had delays no other, however many read it', async () => {
    const hung = { threadId: randomUUID(), runId: randomUUID() };
    let waiting = 0;
    const loadKeys: DataCipher['loadKeys'] = (entries) => {
      if (!JSON.stringify(entries).includes(hung.runId)) return undefined;
      waiting += 1;
      return new Promise(() => undefined);
    };
    const streams = fixture.open({ cipher: { ...cipher, loadKeys } });
    const said = fixture.event('of somebody else', hung.runId);
    await streams.append({ threadId: hung.threadId, epoch: 1n }, [said], { resumable: true });
    for (let readers = 0; readers < 40; readers += 1) void streams.read(hung.threadId).next();
    await waitFor(() => waiting === 40, { what: 'all readers of the hung tenant' });
    await fixture.append(['own'], { by: streams });
    expect(await fixture.collect({}, streams).until(1)).toEqual(['own']);
  });

  it.each([
    ['no key', NO_ENCRYPTION],
    ['another key', createDataCipher('o'.repeat(32))],
  ])('is a gap to a process with %s, which also reads it live, and never ciphertext', async (_, other) => {
    const gaps: string[] = [];
    const reader = fixture.open({ cipher: other, onGap: (reason) => gaps.push(reason) });
    const live = fixture.collect({}, reader);
    await fixture.listened();
    const [id] = await fixture.append([SECRET], { by: fixture.open({ cipher }) });
    const stored = fixture.collect({}, reader);
    await Promise.all([live.until(1), stored.until(1)]);
    for (const { got } of [live, stored]) {
      expect(got).toMatchObject([{ id, kind: 'stream.gap', data: '{"reason":"lost","after":null}' }]);
    }
    expect(gaps).toEqual(['lost', 'lost']);
  });
});
