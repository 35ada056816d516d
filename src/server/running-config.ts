import { randomBytes } from 'node:crypto'
import type { Config } from '../config/config.ts'
import { redactedOf, secretDigestsOf } from '../config/redacted.ts'

/** The configuration in force, as `GET /config` of the admin listener returns it. */
export interface RunningConfig {
  /** With defaults and absolute paths, in milliseconds and bytes; secrets are `(secret)`. */
  readonly config: unknown
  /** Null if `admin.token` is not set. Any client may then request this, so digests of secrets are not included. */
  readonly secrets: {
    readonly salt: string
    /** By path; keyed with `admin.token`. */
    readonly digests: Readonly<Record<string, string>>
  } | null
}

const SALT_BYTES = 16

/** Returns a function that reads the configuration in force. The result is computed once for each configuration. */
export function createRunningConfig(current: () => Config): () => Promise<RunningConfig> {
  let latest: { readonly of: Config; readonly answer: Promise<RunningConfig> } | null = null
  return async function readRunningConfig() {
    const config = current()
    if (latest?.of !== config) latest = { of: config, answer: responseOf(config) }
    return latest.answer
  }
}

async function responseOf(config: Config): Promise<RunningConfig> {
  const { token } = config.admin
  if (token === null) return { config: redactedOf(config), secrets: null }
  const salt = randomBytes(SALT_BYTES).toString('hex')
  const digests = await secretDigestsOf(config, { key: token, salt })
  return { config: redactedOf(config), secrets: { salt, digests } }
}
