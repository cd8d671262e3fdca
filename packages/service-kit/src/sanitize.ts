import { hostname } from 'node:os';
import { REDACTED, redactText } from './redaction.ts';

const HOST_MASK = '[host]';

/** Matches loopback, private, link-local and carrier-grade ranges, each with an optional port. */
const PRIVATE_IPV4 =
  /(?<![\d.])(?:127(?:\.\d{1,3}){3}|10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|169\.254(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])(?:\.\d{1,3}){2}|0\.0\.0\.0)(?![\d.]\d)(?::\d{1,5})?/g;
const PRIVATE_IPV6 =
  /(?<![\w:])\[?(?:::1|::ffff:[\d.]+|f[cd][0-9a-f]{2}(?::[0-9a-f]{0,4}){2,7}|fe80(?::[0-9a-f]{0,4}){2,7})(?:%\w+)?\]?(?::\d{1,5})?(?![\w:])/gi;
/** Matches names with top-level domains that no public host has, or that companies use internally. */
const PRIVATE_NAMES =
  /(?<![\w.-])(?:localhost|(?:[a-z0-9_](?:[a-z0-9_-]{0,62})\.){1,10}(?:internal|local|localdomain|localhost|lan|intranet|intra|private|corp|home|domain|consul|cluster|home\.arpa|svc|svc\.cluster\.local))(?![\w-]|\.\w)(?::\d{1,5})?/gi;
/**
 * Matches errors of Node and Postgres about unreachable servers: the name after them is an internal one, however short,
 * unless it is a public one.
 */
const UNREACHABLE =
  /\b((?:ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|ENOTFOUND)\s+)([^\s,;)'"]+)/g;
/**
 * Matches names below well-known top-level domains. Others may be those of a cluster: `redis.default` is a service and
 * its namespace.
 */
const PUBLIC_NAME =
  /^(?:[a-z0-9-]{1,63}\.){1,10}(?:com|net|org|edu|gov|info|biz|dev|app|cloud|tech|online|site|xyz|page|ai|ca|ch|cn|co|de|eu|fr|in|io|jp|kr|me|nl|ru|se|sh|so|uk|us)(?::\d{1,5})?\.?$/i;
const CONNECTION_STRING =
  /\b(?:postgres(?:ql)?|rediss?|mysql|mariadb|mongodb(?:\+srv)?|amqps?|kafka|nats|clickhouse|mssql|sqlserver|jdbc:\w+):\/\/[^\s"'<>)\]]+/gi;
/** Matches libpq's form, `host=… password=…`; a value ends before the next keyword. */
const KEYWORD_DSN =
  /\b(?:host|hostaddr|port|user|dbname|password|sslmode)=(?:(?!\b(?:host|hostaddr|port|user|dbname|password|sslmode)=)\S)+(?:\s+(?:host|hostaddr|port|user|dbname|password|sslmode)=(?:(?!\b(?:host|hostaddr|port|user|dbname|password|sslmode)=)\S)+)+/gi;
/** Matches the form of ADO and ODBC: `Server=db01;Database=app;User Id=sa`. */
const SEMICOLON_DSN =
  /\b(?:server|data source|addr(?:ess)?|host|driver)\s?=\s?[^\s;"']{1,200}(?:;\s?[a-z ]{2,40}=[^;"'\n]{0,200})+;?/gi;
/** Matches a server after a keyword: `host=db`, `"host": "db"`, `bootstrap.servers=kafka-0:9092`. */
const NAMED_HOST =
  /\b((?:(?:host|hostname|hostaddr)["']?\s?[=:]|(?:server|data source|addr|endpoint|broker|brokers|bootstrap[._-]servers?)\s?=)\s?["']?)(?!\[)[^\s"',;)}\]]{1,255}/gi;
/** Matches `http://redis:6379`, `grpc://x:50051`: a host without a dot can only be a name of the internal network. */
const SINGLE_LABEL_URL = /\b([a-z][a-z0-9+.-]{1,20}):\/\/(?!\[)[a-z0-9_-]+(?::\d{1,5})?(?=[/\s"'?#),;]|$)/gi;
/**
 * Matches `redis-master:6379`: a name without a dot before the port of a server. Ports below 1024 are excluded, as most
 * numbers after a colon are no ports: line numbers, statuses, times.
 */
const NAME_WITH_PORT =
  /(?<![\w.:/@-])[a-z](?:[a-z0-9_-]{0,61}[a-z0-9])?:(?:102[4-9]|10[3-9]\d|1[1-9]\d\d|[2-9]\d{3}|[1-5]\d{4}|6[0-5]\d{3})(?![\w-]|[.:]\d)/g;

/**
 * Prepares an error text for callers: the error stays, while credentials, connection strings and the names and
 * addresses of internal hosts are masked.
 */
export function sanitizeErrorText(text: string): string {
  const own = hostname();
  let masked = text
    .replace(CONNECTION_STRING, REDACTED)
    .replace(KEYWORD_DSN, REDACTED)
    .replace(SEMICOLON_DSN, REDACTED)
    .replace(UNREACHABLE, (found, error: string, host: string) =>
      PUBLIC_NAME.test(host) ? found : `${error}${HOST_MASK}`,
    );
  masked = redactText(masked)
    .replace(NAMED_HOST, `$1${HOST_MASK}`)
    .replace(SINGLE_LABEL_URL, `$1://${HOST_MASK}`)
    .replace(PRIVATE_IPV4, HOST_MASK)
    .replace(PRIVATE_IPV6, HOST_MASK)
    .replace(PRIVATE_NAMES, HOST_MASK)
    .replace(NAME_WITH_PORT, HOST_MASK);
  return own.length >= 4 ? masked.replaceAll(own, HOST_MASK) : masked;
}
