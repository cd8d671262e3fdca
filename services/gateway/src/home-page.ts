import type { RequestListener } from 'node:http';

/** Links are relative: a proxy in front may have taken a path off. */
const PAGE = Buffer.from(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Runyard</title>
</head>
<body>
<main>
<h1>Runyard</h1>
<p>This is a platform that runs agents. It is working.</p>
<ul>
<li><a href="login">Sign in</a> to see your account, your organizations and your keys.</li>
<li>Clients call the URL of a deployment, <code>/deployments/&lt;id&gt;</code>, with a key in <code>x-api-key</code>;
<code>/docs</code> below it describes what it serves.</li>
</ul>
</main>
</body>
</html>
`);

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-length': PAGE.byteLength,
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

/** Answers the root of the platform's host, which people open, with a page that leads on; `next` answers the rest. */
export function withHomePage(next: RequestListener): RequestListener {
  return (req, res) => {
    const isRoot = (req.url ?? '').split('?', 1)[0] === '/';
    if (!isRoot || (req.method !== 'GET' && req.method !== 'HEAD')) {
      next(req, res);
      return;
    }
    req.resume();
    res.writeHead(200, HEADERS).end(req.method === 'HEAD' ? undefined : PAGE);
  };
}
