import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseDocument } from 'yaml'
import { z } from 'zod'
import { idempotency } from './config-idempotency.ts'
import { limits, rate } from './config-limits.ts'
import { health, node } from './config-nodes.ts'
import { authorization, identity, validation } from './config-policy.ts'
import { problemsOf } from './config-problems.ts'
import { httpUrl, integer, size, time } from './config-values.ts'
import { substitute } from './substitute.ts'

/** Every problem of a configuration at once, each as `path: what is wrong`. The process stops before it listens. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor(file: string, problems: readonly string[]) {
    super(`${file} has ${problems.length} problem${problems.length === 1 ? '' : 's'}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

const address = (port: number) =>
  z.strictObject({ host: z.string().default('127.0.0.1'), port: integer(0, 65_535).default(port) })

const account = z.strictObject({ username: z.string().min(1), password: z.string() })
const credentials = z.union([z.enum(['none', 'forward']), account])
const engine = z.strictObject({
  nodes: z.array(node).min(1, 'at least one node is needed'),
  remoteName: z.string().min(1).optional(),
  credentials: credentials.default('none'),
  /** Who the gateway is when it asks the engine on its own behalf; default: as `credentials` says. */
  service: account.optional(),
  /** Whose Host the engine sees. `client` keeps the engine's absolute links right. */
  host: z.enum(['client', 'node']).default('client'),
  identity: identity.optional(),
  authorization: authorization.optional(),
  validation: validation.optional(),
  health: health.optional(),
  /** In place of `limits.rate`; null: nobody is limited. */
  rate: rate.nullable().optional(),
  /** Starts of a definition go to nodes that have its deployment registered; the nodes are asked with each probe. */
  deploymentAware: z.boolean().default(false),
})

const schema = z.strictObject({
  version: z.literal(1),
  /** Processes that share the public port; a change needs a restart. */
  workers: integer(1, 64).default(1),
  listen: address(8080).prefault({}),
  admin: address(9090).prefault({}),
  basePath: z
    .string()
    .regex(/^(\/[A-Za-z0-9_-]+)+$/, 'write it like /engine-rest')
    .default('/engine-rest'),
  /** Values of Host that are served; empty: any. */
  hosts: z.array(z.string()).default([]),
  engines: z
    .record(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'letters, digits, - and _'), engine)
    .refine((engines) => Object.keys(engines).length > 0, 'at least one engine is needed'),
  identity,
  authorization,
  validation: validation.prefault({}),
  health: health.prefault({}),
  cache: z
    .strictObject({
      memory: z.strictObject({ maxBytes: size().default(64 * 1024 ** 2) }).prefault({}),
      redis: z
        .url({ protocol: /^rediss?$/ })
        .nullable()
        .default(null),
    })
    .prefault({}),
  idempotency: idempotency.prefault({}),
  limits: limits.prefault({}),
  timeouts: z
    .strictObject({
      connect: time().default(1000),
      /** From the request's last byte to the answer's first. */
      headers: time().default(60_000),
      /** Between two pieces of an answer's body. */
      body: time().default(60_000),
      /** From an answer's first byte to its last. */
      answer: time().default(600_000),
      /** A client's whole request, head and body. */
      request: time().default(60_000),
      /** From SIGTERM to the exit at the latest. */
      drain: time().default(20_000),
    })
    .prefault({}),
  passthrough: z
    .array(z.strictObject({ prefix: z.string().regex(/^(\/[A-Za-z0-9._-]+)+$/), upstream: httpUrl }))
    .default([]),
  log: z
    .strictObject({
      level: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
      /** Where every refusal and every write is written down: `stdout` among the other lines, a file of its own, or `off`. */
      audit: z.string().min(1).default('stdout'),
    })
    .prefault({}),
})

export type Config = z.infer<typeof schema>
export type EngineConfig = Config['engines'][string]
export type AuthorizationConfig = Config['authorization']
export type IdentityConfig = Config['identity']

/** An engine's settings, its own before the general ones. */
export function settingsOf(config: Config, engineConfig: EngineConfig) {
  return {
    identity: engineConfig.identity ?? config.identity,
    authorization: engineConfig.authorization ?? config.authorization,
    validation: engineConfig.validation ?? config.validation,
    health: engineConfig.health ?? config.health,
    rate: engineConfig.rate === undefined ? config.limits.rate : engineConfig.rate,
  }
}

/** Reads, completes and checks a configuration file. File names inside come back absolute. `extra` goes before the environment. @throws ConfigError */
export function loadConfig(file: string, extra: NodeJS.ProcessEnv = {}): Config {
  const env = { ...process.env, ...extra }
  const source = read(file)
  const document = parseDocument(source, { prettyErrors: true })
  if (document.errors.length > 0)
    throw new ConfigError(
      file,
      document.errors.map(({ message }) => message.trim()),
    )
  const problems: string[] = []
  const value = substitute(document.toJS(), { env, base: dirname(resolve(file)), problems, path: '' })
  const result = schema.safeParse(value)
  if (!result.success) problems.push(...result.error.issues.flatMap((issue) => problemsOf(issue, schema)))
  else problems.push(...credentialProblems(result.data), ...probeProblems(result.data))
  if (!result.success || problems.length > 0) throw new ConfigError(file, problems)
  return withAbsolutePaths(result.data, dirname(resolve(file)))
}

/** An engine that decides by itself has to know about whom. */
function credentialProblems(config: Config): string[] {
  return Object.entries(config.engines).flatMap(([name, engineConfig]) => {
    const { mode: decides } = settingsOf(config, engineConfig).authorization
    if (decides !== 'engine' || engineConfig.credentials === 'forward') return []
    return [`engines.${name}.credentials: must be forward where authorization.mode is engine`]
  })
}

/** Probes ask which deployments there are. */
function probeProblems(config: Config): string[] {
  return Object.entries(config.engines).flatMap(([name, engineConfig]) => {
    if (!engineConfig.deploymentAware || settingsOf(config, engineConfig).health.probe) return []
    return [`engines.${name}.deploymentAware: needs health.probe`]
  })
}

/** What Node was started with. */
export function nodeFlags(): string {
  return [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' ')
}

/** The JSON schema of the file, for editors. */
export function configJsonSchema(): unknown {
  return z.toJSONSchema(schema, { io: 'input' })
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new ConfigError(file, [cause instanceof Error ? cause.message : String(cause)])
  }
}

function withAbsolutePaths(config: Config, base: string): Config {
  const at = <T extends object>(part: T): T =>
    'file' in part && typeof part.file === 'string' ? { ...part, file: resolve(base, part.file) } : part
  const ofAuthorization = (part: AuthorizationConfig) => ({ ...part, records: at(part.records) })
  const engines = Object.entries(config.engines).map(([name, part]) => [
    name,
    {
      ...part,
      ...(part.identity && { identity: at(part.identity) }),
      ...(part.authorization && { authorization: ofAuthorization(part.authorization) }),
    },
  ])
  return {
    ...config,
    engines: Object.fromEntries(engines),
    identity: at(config.identity),
    authorization: ofAuthorization(config.authorization),
    log: {
      ...config.log,
      audit: isWord(config.log.audit) ? config.log.audit : resolve(base, config.log.audit),
    },
  }
}

/** What is no file's name. */
function isWord(audit: string): boolean {
  return audit === 'stdout' || audit === 'off'
}
