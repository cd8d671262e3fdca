import { bodyOf, type FakeServer, json, serve } from '@runyard/test-kit/fake-platform';

/** Starts a deployment that answers with the request it got. */
export async function startEchoDeployment(): Promise<FakeServer> {
  return serve(async (req, res) => {
    const body = await bodyOf(req).catch(() => Buffer.alloc(0));
    json(res, 200, {
      method: req.method,
      url: req.url,
      headers: req.headers,
      body: body.toString(),
      length: body.length,
    });
  });
}
