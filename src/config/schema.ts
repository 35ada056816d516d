import { requestHeaders, responseHeaders } from './header-names.ts'
import { z } from 'zod'
import { audit } from './audit-settings.ts'
import { cors } from './cors-settings.ts'
import { mcp } from './mcp-settings.ts'
import { account, credentials } from './credential-settings.ts'
import { idempotency } from './idempotency-settings.ts'
import { ENGINE_SECTIONS } from '../feature-settings.ts'
import { DEFAULT_DATE_PATTERN, findPatternMistake } from './date-pattern.ts'
import { HOST } from './host-pattern.ts'
import { limits, maxResults } from './limit-settings.ts'
import { pathRules } from './path-rules.ts'
import { balancing, compare, health, node, shift } from './node-settings.ts'
import { authorizationSettings, identitySettings, validation } from './policy-settings.ts'
import { rate } from './rate-settings.ts'
import { redis } from './redis-settings.ts'
import { RELEASES } from '../operations/published/releases.ts'
import { OF_A_FILE } from './config-problems.ts'
import { adminTls, clientTls, listenTls } from './tls-settings.ts'
import { traces } from './trace-settings.ts'
import {
  age,
  adminHost,
  bearerToken,
  engineName,
  httpUrl,
  wholeNumber,
  network,
  origin,
  publicUrl,
  remoteName,
  signingKey,
  size,
  time,
} from './values.ts'

/** Names and addresses as in the header `Host`. */
const servedHost = z
  .string()
  .refine((text) => HOST.test(text), 'write it as in the Host header: NAME or NAME:PORT')
  .meta({ title: '`NAME` or `NAME:PORT`' })
const address = (port: number, others: string) => ({
  host: z
    .string()
    .default('127.0.0.1')
    .describe(
      'The address on which the gateway listens. If it is a name, the gateway listens on the first address to which the name resolves.',
    ),
  port: wholeNumber(0, 65_535)
    .default(port)
    .describe(
      `The port on which the gateway listens. It must differ from ${others} if both listeners use the same address. If 0, the system selects a free port.`,
    ),
})
const listen = z.strictObject({
  ...address(8080, '`admin.port`'),
  trustedProxies: z
    .array(network)
    .default([])
    .describe(
      'Networks and addresses of proxies that are trusted to report the client address in `X-Forwarded-For` or `Forwarded`. ' +
        'From other peers, these headers are ignored.',
    ),
  publicUrl: publicUrl
    .nullable()
    .default(null)
    .describe(
      'The URL with which clients reach the gateway, without `basePath`, for example `https://api.example`. Links in responses begin with it. ' +
        'If null, links begin with the scheme of `X-Forwarded-Proto` and the host of `X-Forwarded-Host` from a proxy in `listen.trustedProxies`. ' +
        'Without such a proxy, they begin with `http://`, or `https://` with `listen.tls`, and the `Host` of the request.',
    ),
  allowedOrigins: z
    .array(origin)
    .default([])
    .describe("Origins whose pages may send writes, in addition to the gateway's own origin."),
  tls: listenTls
    .nullable()
    .default(null)
    .describe(
      'TLS for this listener, instead of plain HTTP. The files are read again when they change. Open connections remain open. ' +
        'If null, the listener uses plain HTTP.',
    ),
})
const MAX_ADMIN_TOKENS = 100

const adminToken = z.strictObject({
  name: engineName.describe('The name in the audit stream, for example that of a person or of a pipeline.'),
  token: bearerToken.describe('The token, at best `${file:…}`.'),
  right: z
    .enum(['read', 'change'])
    .describe(
      '`read`: metrics, the status page, `/config`, `/compared` and `/explain`. `change`: also reload, purge of the cache, moves between groups and drain of nodes.',
    ),
})

/** Refuses two tokens with one name, and one token with two names: the audit stream could not name its user. */
function refuseRepeated(tokens: readonly z.infer<typeof adminToken>[], context: z.RefinementCtx): void {
  for (const key of ['name', 'token'] as const)
    for (const [at, one] of tokens.entries()) {
      const first = tokens.findIndex((other) => other[key] === one[key])
      if (first < at)
        context.addIssue({
          code: 'custom',
          path: [at, key],
          message: `is the same as that of tokens[${first}]`,
        })
    }
}

const admin = z.strictObject({
  ...address(9090, '`listen.port`'),
  hosts: z
    .array(adminHost)
    .default([])
    .describe(
      'Host names with which clients may address the admin listener, in addition to IP addresses, `localhost` and `admin.host`. ' +
        'Requests with other names get 403. This prevents DNS rebinding: a web page could otherwise point its own name to this listener.',
    ),
  token: bearerToken
    .nullable()
    .default(null)
    .describe(
      'The token for all paths except `/livez` and `/readyz`. Clients send it as `Authorization: Bearer`, or as the `Basic` password of any user. ' +
        'It gives all rights. Use `${file:…}` to keep it out of this file. Danger: if null, and if `tokens` is empty, every client that reaches the listener may use it.',
    ),
  tokens: z
    .array(adminToken)
    .max(MAX_ADMIN_TOKENS, `at most ${MAX_ADMIN_TOKENS} tokens are permitted`)
    .superRefine(refuseRepeated)
    .default([])
    .describe(
      'Tokens with a name and a right, in addition to `token`. The audit stream names the token of each change.',
    ),
  tls: adminTls
    .nullable()
    .default(null)
    .describe(
      'TLS for this listener, instead of plain HTTP. It also applies to probes and scrapes. The files are read again when they change. ' +
        'If null, the listener uses plain HTTP.',
    ),
})

const forwarded = z.enum(['none', 'x-forwarded', 'forwarded'])
export const engineSettings = z.strictObject({
  nodes: z
    .array(node)
    .min(1, 'at least one node is needed')
    .describe(
      "URLs of the engine's REST API, one for each node of the same cluster. A node can also be written as `{ url, weight, drain, group }`.",
    ),
  remoteName: remoteName
    .optional()
    .describe(
      "The engine's name on its own nodes. If absent, the gateway uses their base path without an engine name.",
    ),
  credentials: credentials
    .default('none')
    .describe(
      "The credentials that the engine receives instead of the caller's. `none`: no credentials. " +
        "`forward`: the caller's own credentials, so that the engine knows the caller, and hashes a password on every call. " +
        '`{ username, password }`: one account. `{ header, sign }`: the caller in a header, for an engine that trusts this header.',
    ),
  service: account
    .optional()
    .describe(
      "The account for the gateway's own requests: lookups, records, groups. If absent, these requests use `credentials`. " +
        'It is required with `forward` and `{ header }` if users or records come from the engine. ' +
        "If users and records both come from files, `forward` sends the gateway's own requests without credentials. " +
        "An engine that requires credentials then rejects each lookup, and the client's request that needs the lookup fails.",
    ),
  host: z
    .enum(['client', 'node'])
    .default('client')
    .describe(
      "The `Host` that the engine receives. `client`: that of the client's request. It keeps the engine's absolute links correct. " +
        "`node`: that of the node's URL, for a proxy in front of the engine that routes by name.",
    ),
  forwarded: forwarded
    .default('none')
    .describe(
      'Headers that inform the engine of the client address, the scheme and the requested host. `x-forwarded`: `X-Forwarded-For`, `-Proto` and `-Host`. ' +
        "`forwarded`: `Forwarded` (RFC 7239). The gateway sets them itself and removes the client's values. " +
        'Use this setting if the engine, or a proxy in front of it, reads these headers.',
    ),
  requestHeaders: requestHeaders
    .default([])
    .describe(
      'Names of client headers that the engine receives in addition to those of the API (`Accept…`, `Content-…`, `If-…`, `Range`, `User-Agent`, trace headers), for example `[X-Correlation-Id]`. ' +
        'The gateway forwards no other header. Headers that claim an identity, a certificate, an address or a target are refused here. ' +
        'A request with one of these headers neither uses nor fills the cache. Danger: the client chooses the value, and the gateway does not check it.',
    ),
  responseHeaders: responseHeaders
    .default([])
    .describe(
      'Names of response headers of the engine that clients receive in addition to those of the API, for example `[X-Node-Version]`. ' +
        'Cookies, redirects and CORS headers are refused here.',
    ),
  tls: clientTls
    .optional()
    .describe(
      'TLS for connections to nodes with `https://` URLs, version 1.2 or later. If absent, the gateway accepts certificates that Node.js trusts. ' +
        'The files are read again for new connections.',
    ),
  identity: identitySettings.optional().describe('Replaces the section `identity` for this engine.'),
  authorization: authorizationSettings
    .optional()
    .describe('Replaces the section `authorization` for this engine.'),
  validation: validation.optional().describe('Replaces the section `validation` for this engine.'),
  health: health.optional().describe('Replaces the section `health` for this engine.'),
  rate: rate
    .nullable()
    .optional()
    .describe('Replaces `limits.rate` for this engine. If null, no user is limited.'),
  maxResults: maxResults
    .nullable()
    .optional()
    .describe('Replaces `limits.maxResults` for this engine. If null, lists may have any number of items.'),
  release: z
    .enum(RELEASES)
    .nullable()
    .default(null)
    .describe(
      'The family and version of the engine. The gateway then refuses operations that this release does not have, with `GW_OPERATION_MISSING`. ' +
        'Errors that the gateway writes in the words of the engine then name the classes of this release (Operaton). ' +
        'An engine reports only its version, so the gateway cannot recognize the family. ' +
        'If null, or if your release is not in the list, the engine responds to such operations itself.',
    ),
  present: z
    .enum(['camunda'], {
      error: "must be camunda, because a response keeps its length, and another family's name may be longer",
    })
    .nullable()
    .default(null)
    .describe(
      'The family whose names clients see. With `camunda`, members of responses with the name of another family (`operatonFormRef`) get the name that Camunda gives them (`camundaFormRef`). ' +
        'If null, clients see the names that the engine sends.',
    ),
  dateFormat: z
    .string()
    .superRefine((pattern, context) => {
      const mistake = findPatternMistake(pattern)
      if (mistake !== null) context.addIssue({ code: 'custom', message: mistake })
    })
    .meta({ title: "pattern of Java's `SimpleDateFormat`" })
    .default(DEFAULT_DATE_PATTERN)
    .describe(
      "The engine's date format, if it was changed with `JacksonConfigurator.setDateFormatString`. With another format than the default, the gateway forwards dates in requests without checking them. " +
        'A format that shows no milliseconds, no time zone or the names of months makes some lists slower: see docs/configuration/dates.md.',
    ),
  balancing,
  shift: shift
    .nullable()
    .default(null)
    .describe(
      'Distributes requests between two groups of nodes, to change the engine under traffic. It is required if nodes have a `group`, and the nodes must then have exactly two groups.',
    ),
  compare: compare
    .nullable()
    .default(null)
    .describe(
      'Compares the responses of the two groups of nodes of `shift`, and reports differences. If null, nothing is compared.',
    ),
  deploymentAware: z
    .boolean()
    .default(false)
    .describe(
      'Sends starts of a definition to nodes that have registered its deployment. ' +
        'It requires `health.probe`, because the gateway reads the deployments of a node with each probe.',
    ),
  ...ENGINE_SECTIONS,
})

const prefix = z
  .string()
  .regex(
    /^(\/\.*[A-Za-z0-9_][A-Za-z0-9._-]*)+$/,
    'write it like /app, without a slash at its end and without .. in it',
  )
  .meta({ title: 'path like `/app`' })

/** A path without a query, because a query may contain a secret and the path is shown. */
const probePath = z
  .string()
  .refine(
    (text) => /^\/[\w.~!$&'()*+,;=:@%/-]*$/.test(text),
    'write it like /app/health, without ? and without #',
  )
  .meta({ title: 'path like `/app/health`' })

/** All settings of the file. */
export const schema = z.strictObject(
  {
    version: z.literal(1).describe('The version of this file format.'),
    workers: wholeNumber(1, 64).default(1).describe('Number of processes that share the public port.'),
    listen: listen.prefault({}).describe('The public listener.'),
    admin: admin
      .prefault({})
      .describe(
        'The admin listener: health, metrics, the status page, `POST /explain` and `POST /reload`. ' +
          'Danger: without `admin.token`, every client that reaches it may use it. Do not expose it to the public network.',
      ),
    basePath: z
      .string()
      .regex(/^(\/[A-Za-z0-9_-]+)+$/, 'write it like /engine-rest')
      .meta({ title: 'path like `/engine-rest`' })
      .default('/engine-rest')
      .describe('The path in front of the paths of the API.'),
    cors: cors
      .nullable()
      .default(null)
      .describe(
        'Pages of other origins that may read responses of the API. If null, no page may, and the gateway does not respond to preflight requests.',
      ),
    apiDocument: z
      .strictObject({
        page: z
          .boolean()
          .default(false)
          .describe('If true, `GET /docs` below `basePath` shows the document as a page.'),
      })
      .nullable()
      .default(null)
      .describe(
        'Describes the API at `GET /openapi.json` below `basePath`: for each caller, the operations of which a request may be permitted. ' +
          '`{}` enables it. If null, there is no such path.',
      ),
    mcp: mcp
      .nullable()
      .default(null)
      .describe(
        'Offers operations as tools to AI agents at `/mcp`, through the Model Context Protocol. Calls pass the same checks as requests to the API. If null, there is no such path.',
      ),
    hosts: z
      .array(servedHost)
      .default([])
      .describe(
        'Accepted values of `Host`. If empty, every value is accepted. The port is part of the value: ' +
          '`gateway` and `gateway:8080` are two values, and clients omit 80 for http and 443 for https. ' +
          "Set it if a client must not control the links in the engine's responses.",
      ),
    engines: z
      .record(engineName, engineSettings)
      .refine((engines) => Object.keys(engines).length > 0, 'at least one engine is needed')
      .describe(
        'The engines by name. The path of an engine is `{basePath}/engine/NAME/task`, for example. ' +
          'The engine named `default` is also available at `{basePath}/task`. A name has 1 to 64 letters, digits, `-` and `_`.',
      ),
    identity: identitySettings.describe('Users, their passwords, groups and tenants.'),
    authorization: authorizationSettings.describe('The permissions of users.'),
    validation: validation.prefault({}).describe("Checks of a request's content."),
    health: health
      .prefault({})
      .describe(
        'Probes, with which the gateway detects unhealthy nodes. It also detects them from requests.',
      ),
    cache: z
      .strictObject({
        memory: z
          .strictObject({
            maxBytes: size(0)
              .default(64 * 1024 ** 2)
              .describe(
                'Maximum size of the responses that one process caches. If zero, the process caches no responses.',
              ),
          })
          .prefault({})
          .describe('The cache of each process.'),
        counts: z
          .boolean()
          .default(false)
          .describe(
            'Whether identical counts of several callers that arrive at the same time share one request to the engine. ' +
              'Danger: if several workers or replicas run, a count may not include the last write of the caller. If false, each count is sent.',
          ),
        staleWhileRevalidate: age()
          .default(10_000)
          .describe(
            'How long a cached response is served after its time while the gateway reads it again in the background. ' +
              'It is never longer than the time for which the operation is cached. If zero, the first request after this time waits for the engine.',
          ),
        staleIfError: age()
          .default(0)
          .describe(
            'How long a cached diagram or definition XML is served after its time if the engine does not respond, or responds with a status of 500 or more. ' +
              'The permission is decided for each request. If zero, such a request gets the error.',
          ),
        redis: redis
          .nullable()
          .default(null)
          .describe(
            'A Redis that replicas share for cached responses. Evictions and changes of records reach every replica in under a second. ' +
              'Required for `Idempotency-Key`.',
          ),
        signingKeys: z
          .array(signingKey)
          .max(4, 'at most 4 keys are permitted')
          .default([])
          .describe(
            'Up to four secrets, each created with `openssl rand -base64 32`. The gateway signs the values that it writes to Redis with the first secret. ' +
              'It ignores values that none of the secrets has signed. Danger: without a key, every client with write access to Redis can invent responses.',
          ),
      })
      .prefault({})
      .describe('Cached responses.'),
    idempotency: idempotency
      .prefault({})
      .describe('Requests with an `Idempotency-Key`. This section applies if `cache.redis` is set.'),
    limits: limits
      .prefault({})
      .describe('Limits of bodies, connections, queues and rates. The size of the cache is in `cache`.'),
    timeouts: z
      .strictObject({
        connect: time()
          .default(1000)
          .describe('Maximum time to open one connection. After this time, the gateway tries the next node.'),
        headers: time()
          .default(60_000)
          .describe(
            'Maximum time from the last byte of a request to the first byte of its response. ' +
              'The same time is also the maximum for all lookups that the decision on a request needs. Long polls use their own `asyncResponseTimeout` instead.',
          ),
        body: time()
          .default(60_000)
          .describe(
            'Maximum time between two parts of a response body, and the maximum time for which a client may read nothing of it.',
          ),
        response: time()
          .default(600_000)
          .describe(
            'Maximum time from the first byte of a response to its last byte. A longer response is cut off. ' +
              'Danger: a large export to a slow client needs more time.',
          ),
        request: time()
          .default(60_000)
          .describe('Maximum time for a client to send a complete request, head and body.'),
        drain: time(0)
          .default(20_000)
          .describe(
            'Maximum time from SIGTERM, or from an uncaught error, to the exit. If zero, the gateway does not wait. ' +
              'The log contains `drain begins` with the number of `connections`, and how many of them are `busy`. ' +
              'At the end it contains `drain ended` with the number of connections that were `cut` at the deadline.',
          ),
      })
      .prefault({})
      .describe('Time limits of requests.'),
    passthrough: z
      .array(
        z.strictObject({
          prefix: prefix.describe(
            'The path in front of the paths of the application. ' +
              'It must not be `basePath` or a parent path of `basePath`: every path that is not in the API would otherwise be forwarded. ' +
              'A prefix below `basePath` is allowed if the API has no path there, for example `/engine-rest/custom`. ' +
              'Paths of the API begin with the words of the API and with `engine`.',
          ),
          upstream: httpUrl
            .optional()
            .describe(
              'The URL to which requests are forwarded. ' +
                'Its path replaces the prefix: with `http://web:8080/app` the path does not change, and with `http://web:8080` the prefix is removed.',
            ),
          nodes: z
            .array(node)
            .min(1, 'at least one node is needed')
            .optional()
            .describe(
              'Several nodes with the same path, instead of `upstream`. The session of a user stays on its node. The gateway does not use a failed node for a while.',
            ),
          tls: clientTls
            .optional()
            .describe(
              'TLS for connections to the nodes of the application with `https://` URLs, version 1.2 or later. It has the keys of `engines.NAME.tls`.',
            ),
          probe: probePath
            .optional()
            .describe(
              'The path of probes with GET to each node. The times are those of the section `health`. ' +
                'With probes, the gateway detects a node that is down before a request is sent to it. ' +
                'It is the whole path on the node: the gateway adds neither `prefix` nor the path of the upstream. A response with 2xx or 3xx is good. ' +
                'Probes carry no credentials. If absent, or with `health.probe: false`, the gateway detects failures only from requests.',
            ),
          auth: z
            .enum(['gateway', 'none'])
            .default('gateway')
            .describe(
              'Sets whether the gateway or the application checks credentials. ' +
                '`gateway`: the gateway authenticates users of the default engine, and the application does not receive the credentials. ' +
                '`none`: the gateway requires no credentials, and forwards `Authorization` to the application. ' +
                'Danger: with `none`, every client that reaches the listener reaches the application. ' +
                'On the host of an engine, `none` also needs `engineFunctions`.',
            ),
          engineFunctions: z
            .enum(['refuse', 'forward'])
            .optional()
            .describe(
              "The functions of an engine's web applications, if a node of the application is on the host of an engine's node: their login, " +
                'their API (`/api/engine`) and their plugins. `refuse`, or no value: they get 403 `GW_NOT_SERVED`. ' +
                '`forward`: they are forwarded. Danger: with `forward`, every user who logs in to the application can do everything that the engine allows, ' +
                'whatever the authorization records of the gateway say. A value also states that `auth: none` is known. ' +
                "The first-time setup, the functions of the server, and the engine's own API are never forwarded.",
            ),
          deny: pathRules
            .default([])
            .describe(
              'Paths that get 403 `GW_NOT_SERVED`, for example `[POST /api/**]`. A path begins after the prefix. `{name}` is any one segment, and `/**` at the end any number of segments. ' +
                'Without a method, a rule applies to every method. `GET` includes HEAD. The case of letters and their encoding do not matter.',
            ),
          allow: pathRules
            .default([])
            .describe(
              'The only paths that are forwarded, in the form of `deny` and spelt exactly like this. If empty, all paths are. `deny` has precedence, and `allow` opens nothing that is otherwise refused.',
            ),
          forwarded: forwarded
            .default('x-forwarded')
            .describe(
              'The same as `engines.NAME.forwarded`. If the prefix is removed, `X-Forwarded-Prefix` also contains it, except with `none`.',
            ),
          requestHeaders: requestHeaders
            .default([])
            .describe(
              'Names of client headers that the application receives in addition to those of the API and of browsers, for example `[HX-Request]`. ' +
                'Headers that claim an identity, a certificate, an address or a target are refused here.',
            ),
          cookies: z
            .enum(['prefix', 'keep'])
            .default('prefix')
            .describe(
              'The paths to which cookies of the application apply. `prefix`: only paths below the prefix, so that no application sets a cookie for another one. ' +
                '`keep`: the paths that the application sets, for an application with several prefixes.',
            ),
          websocket: z
            .boolean()
            .default(false)
            .describe(
              'Whether the gateway opens WebSockets to the application, within the limits of `limits.webSockets`. ' +
                'If false, a request with `Upgrade` is handled as a plain request.',
            ),
        }),
      )
      .default([])
      .describe(
        "Applications, for example `[{ prefix: /app, upstream: http://web:8080/app }]`. Requests are authenticated with the default engine's users. " +
          'Request and response bodies pass unchanged. Danger: the records, tenants, validation and rates of the gateway do not apply there.',
      ),
    log: z
      .strictObject({
        level: z
          .enum(['debug', 'info', 'warn', 'error'])
          .default('info')
          .describe(
            'The lowest level that is logged. An `error` needs a repair by an operator or a developer. A `warn` reports once that a state has become worse. ' +
              'An expected refusal is logged only in the access line of its request. A 5xx refusal also has an `info` line with its cause, if one is known. ' +
              'At `info`, every request has one access line. ' +
              "Danger: the `error` member of a line may quote up to 256 characters that the caller sent, for example in `Cannot convert value '…' of type 'Integer'`. " +
              'These characters are not redacted.',
          ),
        audit: z
          .string()
          .min(1)
          .meta({ title: '`stdout`, `off` or a file name' })
          .default('stdout')
          .describe(
            'Where every refusal and every write is recorded. `stdout`: among the other log lines, with `"stream":"audit"`, at every log level. ' +
              'A file name: in a separate file. `off`: nowhere.',
          ),
      })
      .prefault({})
      .describe("The gateway's log."),
    audit: audit
      .prefault({})
      .describe(
        'Lines of the audit stream in addition to refusals and writes, and what happens while it cannot be written. `log.audit` sets its destination.',
      ),
    traces: traces
      .nullable()
      .default(null)
      .describe(
        'Exports requests as OpenTelemetry spans. If null, no spans are exported, and the SDK is not loaded.',
      ),
  },
  OF_A_FILE,
)

export type Config = z.infer<typeof schema>
export type EngineConfig = Config['engines'][string]
export type AuthorizationConfig = Config['authorization']
export type IdentityConfig = Config['identity']

/** Returns the path of the section that applies to an engine: `identity`, or `engines.orders.identity`. */
export function sectionPathOf(
  name: string,
  engine: Partial<EngineConfig>,
  section: 'identity' | 'authorization' | 'validation',
): string {
  return engine[section] === undefined ? section : `engines.${name}.${section}`
}

/** Returns whether the engine knows the caller, so that it can decide itself. */
export function tellsCaller({ credentials: sent }: Pick<EngineConfig, 'credentials'>): boolean {
  return sent === 'forward' || (typeof sent === 'object' && 'header' in sent)
}

/** Returns the names of the groups of nodes, each once. */
export function groupsOf(nodes: EngineConfig['nodes']): readonly string[] {
  return [...new Set(nodes.flatMap(({ group }) => (group === null ? [] : [group])))]
}

/** Returns the nodes to which requests with a prefix are forwarded. */
export function applicationNodesOf({
  upstream,
  nodes,
}: Config['passthrough'][number]): EngineConfig['nodes'] {
  return nodes ?? (upstream === undefined ? [] : [{ url: upstream, weight: 1, drain: false, group: null }])
}

/** Returns the settings of an engine. Its own settings have precedence over the general ones. */
export function settingsOf(config: Config, engineConfig: EngineConfig) {
  return {
    identity: engineConfig.identity ?? config.identity,
    authorization: engineConfig.authorization ?? config.authorization,
    validation: engineConfig.validation ?? config.validation,
    health: engineConfig.health ?? config.health,
    rate: engineConfig.rate === undefined ? config.limits.rate : engineConfig.rate,
    maxResults: engineConfig.maxResults === undefined ? config.limits.maxResults : engineConfig.maxResults,
  }
}
