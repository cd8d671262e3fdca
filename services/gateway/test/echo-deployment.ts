import { type FakeServer, readRequestBody, sendJson, startFakeServer } from '@runyard/test-kit/fake-platform';

/** Starts a deployment that answers with the request it got. */
export async function startEchoDeployment(): Promise<FakeServer> {
  return startFakeServer(async (req, res) => {
    const body = await readRequestBody(req).catch(() => Buffer.alloc(0));
    sendJson(res, 200, {
      method: req.method,
      url: req.url,
      headers: req.headers,
      body: body.toString(),
      length: body.length,
    });
  });
}
