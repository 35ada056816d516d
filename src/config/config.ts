import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { crossProblems } from './cross-checks.ts'
import { emptySectionProblems } from './empty-sections.ts'
import {
  innerIssuesOf,
  issueProblemsOf,
  pathTextOf,
  withoutMissing,
  withoutUnknownKeys,
} from './config-problems.ts'
import { messageOf } from '../errors.ts'
import { fileReasonOf, textIn } from './file-text.ts'
import { PLAIN_MESSAGES } from './plain-messages.ts'
import { type AuthorizationConfig, type Config, schema } from './schema.ts'
import { tlsFilesOf, tlsProblemsOf, withAbsoluteTlsFiles } from './tls-files.ts'
import { readYaml } from './yaml.ts'
import { type MissingVariable, substitute, type UsedVariable } from './substitute.ts'

export type { AuthorizationConfig, Config, EngineConfig, IdentityConfig } from './schema.ts'
export type { IssuerConfig, TokensConfig } from './token-settings.ts'
export { applicationNodesOf, groupsOf, sectionPathOf, settingsOf, tellsCaller } from './schema.ts'

const URL_OR_VARIABLE = String.raw`^[a-z]+://|\$\{[^}]+\}`

/** All problems of a configuration, each as `path: problem`. The process stops before it listens. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor(file: string, problems: readonly string[]) {
    super(`${file} has ${problems.length} problem${problems.length === 1 ? '' : 's'}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/**
 * Reads, completes and checks a configuration file. File names in it become absolute. `extra` has precedence over the
 * environment. @throws ConfigError
 */
export function loadConfig(file: string, extra: NodeJS.ProcessEnv = {}): Config {
  const env = { ...process.env, ...extra }
  const content = read(file)
  const text = readYaml(content)
  if (text.problems !== null) throw new ConfigError(file, text.problems)
  const missing: MissingVariable[] = []
  const used: UsedVariable[] = []
  const value = substitute(text.value, { env, base: dirname(resolve(file)), missing, used, path: [] })
  const checked = { schema, value, used }
  const result = schema.safeParse(value, PLAIN_MESSAGES)
  const issues = result.success ? [] : withoutMissing(result.error.issues.flatMap(innerIssuesOf), missing)
  const problems = [
    ...missing.map(({ path, message }) => `${pathTextOf(path, checked)}: ${message}`),
    ...issues.flatMap((issue) => issueProblemsOf(issue, checked)),
    ...crossProblems(withoutUnknownKeys(value, issues)),
    ...emptySectionProblems(content, text.value),
  ]
  if (!result.success || problems.length > 0) throw new ConfigError(file, problems)
  const config = withAbsolutePaths(result.data, dirname(resolve(file)))
  const fileProblems = [...tlsFilesOf(config)].flatMap(([path, files]) => tlsProblemsOf(path, files))
  if (fileProblems.length > 0) throw new ConfigError(file, fileProblems)
  return config
}

/** Returns the flags with which Node.js was started. */
export function nodeFlags(): string {
  return [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' ')
}

/** Returns the URL and token of a running gateway from the environment. Each is null if its variable is not set. */
export function adminEnvironment(): { readonly url: string | null; readonly token: string | null } {
  const { ENGINE_GATEWAY_ADMIN: url, ENGINE_GATEWAY_ADMIN_TOKEN: token } = process.env
  // An empty variable counts as not set, as in a shell.
  return { url: url || null, token: token || null }
}

/** Returns the password of the account of `export` and `import` from the environment. Null if the variable is not set. */
export function enginePasswordFromEnvironment(): string | null {
  return process.env['ENGINE_GATEWAY_ENGINE_PASSWORD'] || null
}

/** Returns the configuration with these settings, and with defaults. @throws ConfigError that calls the settings `name` */
export function configOf(name: string, settings: unknown): Config {
  const result = schema.safeParse(settings, PLAIN_MESSAGES)
  if (result.success) return result.data
  const problems = result.error.issues
    .flatMap(innerIssuesOf)
    .flatMap((issue) => issueProblemsOf(issue, { schema, value: settings }))
  throw new ConfigError(name, problems)
}

/** Returns the JSON schema of the file, for editors. Helm needs the older draft. */
export function configJsonSchema(target: 'draft-2020-12' | 'draft-7' = 'draft-2020-12'): unknown {
  return z.toJSONSchema(schema, {
    io: 'input',
    target,
    override: ({ jsonSchema }) => allowVariable(jsonSchema),
  })
}

/** Allows a variable as a URL or within it, which `format` would not allow. */
function allowVariable(schemaOfValue: { format?: string; pattern?: string }): void {
  if (schemaOfValue.format !== 'uri') return
  delete schemaOfValue.format
  schemaOfValue.pattern = URL_OR_VARIABLE
}

function read(file: string): string {
  try {
    return textIn(readFileSync(file))
  } catch (cause) {
    const reason = fileReasonOf(cause)
    throw new ConfigError(file, [reason === null ? messageOf(cause) : `the file ${reason}`])
  }
}

function withAbsolutePaths(config: Config, base: string): Config {
  const at = <T extends object>(settings: T): T =>
    (['file', 'groupsFile'] as const).reduce((changed, key) => {
      const file: unknown = Reflect.get(changed, key)
      return typeof file === 'string' ? { ...changed, [key]: resolve(base, file) } : changed
    }, settings)
  const ofAuthorization = (settings: AuthorizationConfig) => ({ ...settings, records: at(settings.records) })
  const withTls = withAbsoluteTlsFiles(config, base)
  const engines = Object.entries(withTls.engines).map(([name, settings]) => [
    name,
    {
      ...settings,
      ...(settings.identity && { identity: at(settings.identity) }),
      ...(settings.authorization && { authorization: ofAuthorization(settings.authorization) }),
    },
  ])
  return {
    ...withTls,
    engines: Object.fromEntries(engines),
    identity: at(config.identity),
    authorization: ofAuthorization(config.authorization),
    log: {
      ...config.log,
      audit: isWord(config.log.audit) ? config.log.audit : resolve(base, config.log.audit),
    },
  }
}

/** Returns whether the value of `log.audit` is a keyword, not a file name. */
function isWord(audit: string): boolean {
  return audit === 'stdout' || audit === 'off'
}
