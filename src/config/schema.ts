import { requestHeaders, responseHeaders } from './header-names.ts'
import { z } from 'zod'
import { cors } from './cors-settings.ts'
import { account, credentials } from './credential-settings.ts'
import { idempotency } from './idempotency-settings.ts'
import { gauges } from './gauge-settings.ts'
import { DEFAULT_DATE_PATTERN, findPatternMistake } from './date-pattern.ts'
import { HOST } from './host-pattern.ts'
import { limits, rate } from './limit-settings.ts'
import { health, node } from './node-settings.ts'
import { authorizationSettings, identitySettings, validation } from './policy-settings.ts'
import { redis } from './redis-settings.ts'
import { OF_A_FILE } from './config-problems.ts'
import { adminTls, clientTls, listenTls } from './tls-settings.ts'
import { traces } from './trace-settings.ts'
import {
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
  .refine((text) => HOST.test(text), 'write it as Host has it: NAME or NAME:PORT')
  .meta({ title: '`NAME` or `NAME:PORT`' })
const address = (port: number, others: string) => ({
  host: z
    .string()
    .default('127.0.0.1')
    .describe('The address to listen at. A name is one address: the first that it resolves to.'),
  port: wholeNumber(0, 65_535)
    .default(port)
    .describe(`The port to listen at; another one than ${others}. 0: any that is free.`),
})
const listen = z.strictObject({
  ...address(8080, '`admin.port`'),
  trustedProxies: z
    .array(network)
    .default([])
    .describe(
      'Proxies whose `X-Forwarded-For` or `Forwarded` says who the client is. From other peers these headers count for nothing.',
    ),
  publicUrl: publicUrl
    .nullable()
    .default(null)
    .describe(
      'What clients write before `basePath`, as `https://api.example`: links in answers begin with it. ' +
        'Null: they begin as a proxy of `listen.trustedProxies` says in `X-Forwarded-Proto` and `X-Forwarded-Host`, else with `http://` and the `Host` of the request.',
    ),
  allowedOrigins: z
    .array(origin)
    .default([])
    .describe("Origins whose pages may send writes, beside the gateway's own."),
  tls: listenTls
    .nullable()
    .default(null)
    .describe(
      'TLS in the place of plain HTTP. The files are read again when they change, and open connections stay. Null: plain HTTP.',
    ),
})
const admin = z.strictObject({
  ...address(9090, '`listen.port`'),
  hosts: z
    .array(adminHost)
    .default([])
    .describe(
      'Names by which the admin listener is asked, beside addresses, `localhost` and `admin.host`; other names are 403. A page whose name was pointed here could ask otherwise.',
    ),
  token: bearerToken
    .nullable()
    .default(null)
    .describe(
      'Needed as `Authorization: Bearer`, or as the password of `Basic` with any user, for all but `/livez` and `/readyz`; best as `${file:…}`. Danger: with null whoever reaches the listener may ask.',
    ),
  tls: adminTls
    .nullable()
    .default(null)
    .describe(
      'TLS in the place of plain HTTP, for probes and scrapes, too. The files are read again when they change. Null: plain HTTP.',
    ),
})

const forwarded = z.enum(['none', 'x-forwarded', 'forwarded'])
export const engineSettings = z.strictObject({
  nodes: z
    .array(node)
    .min(1, 'at least one node is needed')
    .describe(
      "URLs of the engine's REST API, one a node, all of one cluster. In place of a URL: `{ url, weight, drain }`.",
    ),
  remoteName: remoteName
    .optional()
    .describe("The engine's name on its own nodes. Without it their plain base path is used."),
  credentials: credentials
    .default('none')
    .describe(
      "What the engine gets instead of the caller's credentials: nothing; with `forward` the caller's own, so that the engine knows the caller and hashes a password on every call; an account; " +
        'or the caller in a header, for an engine that believes it.',
    ),
  service: account
    .optional()
    .describe(
      'The account for what the gateway asks on its own behalf: look-ups, records, groups. Without it: as `credentials` says. ' +
        'Needed with `forward` and `{ header }` where users or records come from the engine. ' +
        'With both in files `forward` alone asks without credentials: an engine that wants some answers no look-up, and what needs one fails.',
    ),
  host: z
    .enum(['client', 'node'])
    .default('client')
    .describe(
      "Whose `Host` the engine sees. `client` keeps the engine's absolute links right; `node` is for a proxy between that routes by name.",
    ),
  forwarded: forwarded
    .default('none')
    .describe(
      'Headers that tell the engine the client, its scheme and the host that it has asked, written anew: `X-Forwarded-For`, `-Proto` and `-Host`, or `Forwarded` (RFC 7239). Set it where the engine, or what stands before it, reads them.',
    ),
  requestHeaders: requestHeaders
    .default([])
    .describe(
      'Names of headers of clients that the engine gets in addition to what the API reads (`Accept…`, `Content-…`, `If-…`, `Range`, `User-Agent`, trace headers), for example `[X-Correlation-Id]`. ' +
        'Every other header stays at the gateway. Headers that claim an identity, a certificate, an address or a target are refused here. ' +
        'A request with one of these headers neither uses nor fills the cache. Danger: the client chooses the value, and no check of the gateway reads it.',
    ),
  responseHeaders: responseHeaders
    .default([])
    .describe(
      "Names of response headers of the engine that clients see in addition to the API's own, for example `[X-Node-Version]`. Cookies, redirects and CORS headers are refused here.",
    ),
  tls: clientTls
    .optional()
    .describe(
      'Connections to nodes with `https://` URLs, TLS 1.2 or later. Without it Node.js knows who signs for them. The files are read again for new connections.',
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
    .describe('Replaces `limits.rate` for this engine; null: nobody is limited.'),
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
  gauges: gauges
    .nullable()
    .default(null)
    .describe(
      'Numbers about the engine as metrics: incidents, jobs, external tasks, running instances. One of all replicas asks for them. `{}` turns them on; null: none.',
    ),
  deploymentAware: z
    .boolean()
    .default(false)
    .describe(
      'Starts of a definition go to nodes that have its deployment registered. Needs `health.probe`: the nodes are asked with each probe.',
    ),
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
    version: z.literal(1).describe('The version of this format.'),
    workers: wholeNumber(1, 64).default(1).describe('Processes that share the public port.'),
    listen: listen.prefault({}).describe('The public listener.'),
    admin: admin
      .prefault({})
      .describe(
        'The admin listener: health, metrics, the status page, `POST /explain` and `POST /reload`. Danger: without `admin.token` whoever reaches it may ask; keep it off the public network.',
      ),
    basePath: z
      .string()
      .regex(/^(\/[A-Za-z0-9_-]+)+$/, 'write it like /engine-rest')
      .meta({ title: 'path like `/engine-rest`' })
      .default('/engine-rest')
      .describe("The path before the API's own paths."),
    cors: cors
      .nullable()
      .default(null)
      .describe(
        'Pages of other origins that may read answers of the API. Null: none, and no preflight is answered.',
      ),
    hosts: z
      .array(servedHost)
      .default([])
      .describe(
        "Values of `Host` that are served; empty: any. The port counts: `gateway` and `gateway:8080` are two values, and clients leave out 80 for http and 443 for https. Set it where a client must not steer the engine's links.",
      ),
    engines: z
      .record(engineName, engineSettings)
      .refine((engines) => Object.keys(engines).length > 0, 'at least one engine is needed')
      .describe(
        'The engines by name: `{basePath}/engine/NAME/task`. The engine named `default` is also `{basePath}/task`. A name is 1 to 64 letters, digits, `-` and `_`.',
      ),
    identity: identitySettings.describe('Users, their passwords, groups and tenants.'),
    authorization: authorizationSettings.describe('Who may do what.'),
    validation: validation.prefault({}).describe("What is refused of a request's content."),
    health: health
      .prefault({})
      .describe('How the gateway finds out whether nodes are healthy, beside what requests show.'),
    cache: z
      .strictObject({
        memory: z
          .strictObject({
            maxBytes: size(0)
              .default(64 * 1024 ** 2)
              .describe('Answers cached in this process. Zero: none.'),
          })
          .prefault({})
          .describe('The cache of each process.'),
        redis: redis
          .nullable()
          .default(null)
          .describe(
            'Replicas share cached answers there; evictions and changes of records reach every replica in under a second. Needed for `Idempotency-Key`.',
          ),
        signingKeys: z
          .array(signingKey)
          .max(4, 'at most 4 keys are taken')
          .default([])
          .describe(
            'Up to four secrets (`openssl rand -base64 32`). What is written to Redis is signed with the first; what none of them has signed is not believed. Danger: without a key, whoever can write to Redis writes answers.',
          ),
      })
      .prefault({})
      .describe('Cached answers.'),
    idempotency: idempotency
      .prefault({})
      .describe('Requests with an `Idempotency-Key`. In force where `cache.redis` is set.'),
    limits: limits.prefault({}).describe('What is bounded, beside the cache.'),
    timeouts: z
      .strictObject({
        connect: time().default(1000).describe('One connection; then the next node is tried.'),
        headers: time()
          .default(60_000)
          .describe(
            "From a request's last byte to the answer's first, and as long for all look-ups that its decision needs. Long polls have their own: the request's `asyncResponseTimeout`.",
          ),
        body: time().default(60_000).describe('Between two pieces of an answer.'),
        answer: time()
          .default(600_000)
          .describe(
            "From an answer's first byte to its last; longer ones break off. Danger: a large export to a slow client needs more.",
          ),
        request: time().default(60_000).describe("A client's whole request, head and body."),
        drain: time(0)
          .default(20_000)
          .describe(
            'From SIGTERM, or an error that nobody has caught, to the exit at the latest. Zero: nothing is waited for. ' +
              'The log says `drain begins` with `connections`, and `busy` of them; then `drain ended` with what was `cut` at the deadline.',
          ),
      })
      .prefault({})
      .describe('Time limits of requests.'),
    passthrough: z
      .array(
        z.strictObject({
          prefix: prefix.describe(
            'The path before the paths of the application. Not `basePath` or what `basePath` lies within: every path that is not in the API would be passed on. ' +
              "Below it, as `/engine-rest/custom`, one may stand where the API has no path: the API's paths begin with its own words and with `engine`.",
          ),
          upstream: httpUrl
            .optional()
            .describe(
              'Where requests are forwarded. Its path takes the place of the prefix: with `http://web:8080/app` the path stays, with `http://web:8080` the prefix is removed.',
            ),
          nodes: z
            .array(node)
            .min(1, 'at least one node is needed')
            .optional()
            .describe(
              'In the place of `upstream`: several, of one path. A user stays at the node where his session began; a node that fails is left out for a while.',
            ),
          tls: clientTls
            .optional()
            .describe(
              'As `engines.NAME.tls`, for the nodes of the application: connections to `https://` URLs, TLS 1.2 or later.',
            ),
          probe: probePath
            .optional()
            .describe(
              "A path that each node is asked for by GET, as an engine's nodes are, with the times of the section `health`: a node that is down is found without a request. " +
                "It is the whole path at the node: neither `prefix` nor the upstream's path comes before it. Good is any answer of 2xx or 3xx; credentials are not sent. " +
                'Without it, or with `health.probe: false`, only requests find out.',
            ),
          auth: z
            .enum(['gateway', 'none'])
            .default('gateway')
            .describe(
              "Who asks for credentials. `gateway`: the gateway, of the default engine's users, and the application does not see them. " +
                '`none`: nobody here, and what the caller sends passes. Danger: whoever reaches the listener reaches the application.',
            ),
          forwarded: forwarded
            .default('x-forwarded')
            .describe(
              'As `engines.NAME.forwarded`. Where the prefix is removed `X-Forwarded-Prefix` names it, but for `none`.',
            ),
          requestHeaders: requestHeaders
            .default([])
            .describe(
              'Names of headers of clients that the application gets in addition to the API headers and those of browsers, for example `[HX-Request]`. Headers that claim an identity, a certificate, an address or a target are refused here.',
            ),
          cookies: z
            .enum(['prefix', 'keep'])
            .default('prefix')
            .describe(
              'Where cookies of the application apply. `prefix`: only below the prefix, so that no application sets a cookie for another one. `keep`: as the application says, for an application that several prefixes lead to.',
            ),
        }),
      )
      .default([])
      .describe(
        "Applications, as `[{ prefix: /app, upstream: http://web:8080/app }]`: bodies and answers pass as they are, behind authentication by the default engine's users. " +
          'Danger: nothing of the records, tenants, validation and rates of the gateway counts there.',
      ),
    log: z
      .strictObject({
        level: z
          .enum(['debug', 'info', 'warn', 'error'])
          .default('info')
          .describe(
            'The least level that is logged. An `error` is for an operator or a developer to repair; a `warn` says once that something has got worse. ' +
              'An expected refusal is the line of its request, and for a 5xx what the system said. At `info` every request is one line. ' +
              "Danger: a line's `error` may quote up to 256 characters of what the caller sent, as `Cannot convert value '…' of type 'Integer'` does, and nothing in that line is redacted.",
          ),
        audit: z
          .string()
          .min(1)
          .meta({ title: '`stdout`, `off` or a file name' })
          .default('stdout')
          .describe(
            'Where every refusal and every write is recorded: `stdout` among the other lines (with `"stream":"audit"`, at any level), a file for them alone, or `off`.',
          ),
      })
      .prefault({})
      .describe('The lines of the gateway.'),
    traces: traces
      .nullable()
      .default(null)
      .describe(
        'Where requests are exported as OpenTelemetry spans. Null: nowhere, and the SDK is not loaded.',
      ),
  },
  OF_A_FILE,
)

export type Config = z.infer<typeof schema>
export type EngineConfig = Config['engines'][string]
export type AuthorizationConfig = Config['authorization']
export type IdentityConfig = Config['identity']

/** Returns the nodes to which requests with a prefix are forwarded. */
export function applicationNodesOf({
  upstream,
  nodes,
}: Config['passthrough'][number]): EngineConfig['nodes'] {
  return nodes ?? (upstream === undefined ? [] : [{ url: upstream, weight: 1, drain: false }])
}

/** Returns the settings of an engine. Its own settings have precedence over the general ones. */
export function settingsOf(config: Config, engineConfig: EngineConfig) {
  return {
    identity: engineConfig.identity ?? config.identity,
    authorization: engineConfig.authorization ?? config.authorization,
    validation: engineConfig.validation ?? config.validation,
    health: engineConfig.health ?? config.health,
    rate: engineConfig.rate === undefined ? config.limits.rate : engineConfig.rate,
  }
}
