import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseDocument } from 'yaml'
import { z } from 'zod'
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

/** `${VAR}`: allowed by the schema so that editors accept it; replaced before the schema reads the value. */
const PLACEHOLDER = String.raw`\$\{[^}]+\}`
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
const UNIT_BYTES: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }

const duration = (units: Readonly<Record<string, number>>, example: string) =>
  z
    .string()
    .regex(new RegExp(`^(\\d+(${Object.keys(units).join('|')})|${PLACEHOLDER})$`), `write it like ${example}`)
    .transform((text) => Number.parseInt(text, 10) * (units[text.replace(/^\d+/, '')] ?? Number.NaN))
const time = () => duration(UNIT_MS, '30s')
const size = () => duration(UNIT_BYTES, '2MiB')
const integer = (min: number, max: number) =>
  z.union([
    z.int().min(min).max(max),
    z
      .string()
      .regex(new RegExp(`^(\\d+|${PLACEHOLDER})$`))
      .transform(Number)
      .pipe(z.int().min(min).max(max)),
  ])

const address = (port: number) =>
  z.strictObject({ host: z.string().default('127.0.0.1'), port: integer(0, 65_535).default(port) })
const httpUrl = z.url({ protocol: /^https?$/, error: 'an http:// or https:// URL is needed' })

const mode = z.enum(['enforce', 'report', 'off'])
const identity = z.strictObject({
  source: z.literal('file'),
  file: z.string().min(1),
  /** How long a verified credential is remembered. A reload of the users forgets all of them at once. */
  remember: time().default(5000),
})
const authorization = z.strictObject({
  mode: mode.default('enforce'),
  records: z.strictObject({ source: z.literal('file'), file: z.string().min(1) }),
  /** As the engine's `authorizationCheckRevokes`. */
  revokes: z.enum(['auto', 'always', 'never']).default('auto'),
  adminGroups: z.array(z.string()).default(['camunda-admin']),
  adminUsers: z.array(z.string()).default([]),
  disabledPermissions: z.array(z.string()).default([]),
})
const validation = z.strictObject({
  mode: mode.default('enforce'),
  /** Hazards that may pass; see docs/deviations.md for what each one opens. */
  allow: z.array(z.enum(['expressions', 'java-serialized', 'object-type-name', 'doctype'])).default([]),
})
const credentials = z.union([
  z.enum(['none', 'forward']),
  z.strictObject({ username: z.string().min(1), password: z.string() }),
])
const engine = z.strictObject({
  nodes: z.array(httpUrl).min(1, 'at least one node is needed'),
  remoteName: z.string().min(1).optional(),
  credentials: credentials.default('none'),
  /** Whose Host the engine sees. `client` keeps the engine's absolute links right. */
  host: z.enum(['client', 'node']).default('client'),
  identity: identity.optional(),
  authorization: authorization.optional(),
  validation: validation.optional(),
})

const schema = z.strictObject({
  version: z.literal(1),
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
  cache: z
    .strictObject({
      memory: z.strictObject({ maxBytes: size().default(64 * 1024 ** 2) }).prefault({}),
      redis: z
        .url({ protocol: /^rediss?$/ })
        .nullable()
        .default(null),
    })
    .prefault({}),
  limits: z
    .strictObject({
      body: size().default(2 * 1024 ** 2),
      deploymentBody: size().default(64 * 1024 ** 2),
      /** Rows of one query that are read to leave out those the caller may not see; a query with more is refused. */
      filteredRows: integer(1, 1_000_000).default(10_000),
      /** Connections to each node; further requests wait for one. */
      connections: integer(1, 10_000).default(64),
    })
    .prefault({}),
  timeouts: z
    .strictObject({
      connect: time().default(1000),
      /** From the request's last byte to the answer's first. */
      headers: time().default(60_000),
      /** Between two pieces of an answer's body. */
      body: time().default(60_000),
      /** A client's whole request, head and body. */
      request: time().default(60_000),
      /** From SIGTERM to the exit at the latest. */
      drain: time().default(20_000),
    })
    .prefault({}),
  passthrough: z
    .array(z.strictObject({ prefix: z.string().regex(/^(\/[A-Za-z0-9._-]+)+$/), upstream: httpUrl }))
    .default([]),
  log: z.strictObject({ level: z.enum(['debug', 'info', 'warn', 'error']).default('info') }).prefault({}),
})

export type Config = z.infer<typeof schema>
export type EngineConfig = Config['engines'][string]
export type AuthorizationConfig = Config['authorization']

/** An engine's settings, its own before the general ones. */
export function settingsOf(config: Config, engineConfig: EngineConfig) {
  return {
    identity: engineConfig.identity ?? config.identity,
    authorization: engineConfig.authorization ?? config.authorization,
    validation: engineConfig.validation ?? config.validation,
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
  if (!result.success) problems.push(...result.error.issues.flatMap(problemsOf))
  if (!result.success || problems.length > 0) throw new ConfigError(file, problems)
  return withAbsolutePaths(result.data, dirname(resolve(file)))
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

/** Issues as lines; never with the offending value, which may be a secret. */
function problemsOf(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.reduce<string>(
    (text, key) =>
      typeof key === 'number' ? `${text}[${key}]` : text === '' ? String(key) : `${text}.${String(key)}`,
    '',
  )
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map(
      (key) => `${path === '' ? key : `${path}.${key}`}: unknown key (allowed: ${allowedAt(issue.path)})`,
    )
  return [`${path === '' ? '(the file)' : path}: ${issue.message}`]
}

/** The keys the schema knows at a path, for the message about one it does not know. */
function allowedAt(path: readonly PropertyKey[]): string {
  let at: z.core.$ZodType | undefined = schema
  for (const key of path) at = childOf(at, key)
  const object = unwrap(at)
  return object instanceof z.ZodObject ? Object.keys(object.shape).join(', ') : 'none'
}

function childOf(type: z.core.$ZodType | undefined, key: PropertyKey): z.core.$ZodType | undefined {
  const at = unwrap(type)
  if (at instanceof z.ZodObject) return at.shape[String(key)]
  if (at instanceof z.ZodRecord) return at.valueType
  if (at instanceof z.ZodArray) return at.element
  return undefined
}

function unwrap(type: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  let at = type
  for (;;) {
    if (
      at instanceof z.ZodOptional ||
      at instanceof z.ZodDefault ||
      at instanceof z.ZodPrefault ||
      at instanceof z.ZodNullable
    )
      at = at.unwrap()
    else if (at instanceof z.ZodUnion) at = at.options.find((option) => option instanceof z.ZodObject)
    else return at
  }
}

function withAbsolutePaths(config: Config, base: string): Config {
  const at = <T extends { readonly file: string }>(part: T): T => ({
    ...part,
    file: resolve(base, part.file),
  })
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
  }
}
