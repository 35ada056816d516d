import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { changesBetween, restartProblems } from '../config/config-changes.ts'
import { type Config, ConfigError } from '../config/config.ts'
import { messageOf } from '../errors.ts'
import { type Logger, withoutSecrets } from '../log.ts'
import type { AuditEvent } from '../metrics/audit-events.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { ConfigurationStatus, LastReload } from '../status/status.ts'
import { versionOf } from './version.ts'
import type { WriteAuditEvent } from './audit-writer.ts'
import { oneAfterAnother } from '../request/single-flight.ts'

/**
 * The result of a reload. `changed` has configuration paths. The result contains no content of the file because it is sent to the
 * caller.
 */
export type ReloadResult =
  | { readonly result: 'applied'; readonly changed: readonly string[] }
  | { readonly result: 'refused'; readonly problems: readonly string[] }

export interface Reload {
  /** Reloads the configuration. Reads the file as it is at the time of the call or later. Never rejects. */
  readonly run: (cause: 'signal' | 'file' | 'request') => Promise<ReloadResult>
  readonly status: () => ConfigurationStatus
}

interface ReloadOptions {
  /** The path of the configuration. Null if there is no file. */
  readonly file: string | null
  /** @throws ConfigError */
  readonly load: () => Config
  readonly current: () => Config
  /** Returns the warnings of the configuration in force. */
  readonly warnings: () => readonly string[]
  /**
   * Reads the files that the configuration in force names.
   * @throws ConfigError if one of them could not be used
   */
  readonly verify: () => Promise<unknown>
  /** Puts the configuration in force as a whole, or rejects. */
  readonly replace: (config: Config) => Promise<void>
  /** Writes the reload to the audit stream. */
  readonly audit: WriteAuditEvent
  /** Reopens the audit file if it was renamed. Called at every reload, whether it succeeds or not. */
  readonly reopenAudit: () => Promise<void>
  readonly metrics: Pick<Metrics, 'reload' | 'gauge'>
  readonly log: Logger
}

/** Creates the reload. Reloads run one after the other; all callers that arrive during a reload share the next one. */
export function createReload(options: ReloadOptions): Reload {
  const { metrics } = options
  let isApplied = true
  let appliedAtMs = Date.now()
  let lastReload: LastReload | null = null
  /** The digest of the file in force. */
  let digest = digestOf(textOf(options.file))
  /** The text of the last reload, and its result. */
  let last: { readonly text: string | null; readonly result: ReloadResult } | null = null
  metrics.gauge(
    'gateway_config_last_reload_successful',
    'Whether the last reload of the configuration was applied.',
    () => Number(isApplied),
  )
  metrics.gauge(
    'gateway_config_applied_timestamp_seconds',
    'Time at which the current configuration was applied.',
    () => appliedAtMs / 1000,
  )

  async function runNow(cause: Parameters<Reload['run']>[0]): Promise<ReloadResult> {
    const text = textOf(options.file)
    // A request or a signal has already read this change.
    if (cause === 'file' && last !== null && text !== null && last.text === text) return last.result
    const reloaded = await attempt(options, cause)
    last = { text, result: reloaded }
    await options.reopenAudit()
    isApplied = reloaded.result === 'applied'
    if (reloaded.result === 'applied' && reloaded.changed.length > 0) appliedAtMs = Date.now()
    lastReload = { atMs: Date.now(), cause, changed: [], problems: [], ...reloaded }
    metrics.reload({ result: reloaded.result })
    const read = digestOf(text)
    const { result, changed: changedKeys, problems } = lastReload
    if (cause !== 'file' || result === 'refused' || changedKeys.length > 0)
      await options.audit({
        event: 'reload',
        cause,
        result,
        before: digest,
        after: read,
        changedKeys,
        problems,
      })
    if (isApplied) digest = read
    logReload(options.log, cause, reloaded)
    return reloaded
  }

  return {
    run: oneAfterAnother(runNow),
    status: () => ({ isApplied, appliedAtMs, lastReload, warnings: options.warnings() }),
  }
}

/** Returns null if the file cannot be read. */
function textOf(file: string | null): string | null {
  try {
    return file === null ? null : readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

/** Returns the SHA-256 as `sha256sum` prints it. */
function digestOf(text: string | null): string | null {
  return text === null ? null : hash('sha256', text)
}

/** Returns the event of the start, with the digest of the configuration file. */
export function startEventOf(file: string | null): AuditEvent {
  return { event: 'start', version: versionOf(), configuration: digestOf(textOf(file)) }
}

/** Validates the configuration, builds the runtime and replaces the current one. */
async function attempt(
  { load, current, warnings, verify, replace, log }: ReloadOptions,
  cause: Parameters<Reload['run']>[0],
): Promise<ReloadResult> {
  try {
    const before = current()
    const config = load()
    const changed = changesBetween(before, config)
    const problems = restartProblems(changed)
    if (problems.length > 0) return { result: 'refused', problems }
    if (changed.length > 0) {
      await replace(config)
      logWarnings(warnings(), log)
    } else if (cause !== 'file') await verify()
    if (config.log.level !== before.log.level) log.level = config.log.level
    return { result: 'applied', changed }
  } catch (error) {
    return { result: 'refused', problems: configProblemsOf(error) }
  }
}

/** Logs the dangerous settings of the configuration in force. */
export function logWarnings(warnings: readonly string[], log: Pick<Logger, 'warn'>): void {
  for (const warning of warnings) log.warn(warning)
}

/** Maximum number of problems in one log line. Without it, a file with many mistakes would produce a line of a megabyte. */
const MAX_PROBLEMS = 100

function logReload(log: Logger, cause: string, reloaded: ReloadResult): void {
  if (reloaded.result === 'applied') log.info({ cause, changed: reloaded.changed }, 'configuration reloaded')
  else
    log.error(
      { cause, problems: reloaded.problems },
      'configuration refused; the previous configuration stays in use',
    )
}

export function configProblemsOf(error: unknown): readonly string[] {
  const all = error instanceof ConfigError ? error.problems : [`(the gateway): ${messageOf(error)}`]
  const shown = all.slice(0, MAX_PROBLEMS).map(lineOf)
  return all.length > shown.length ? [...shown, `and ${all.length - shown.length} more`] : shown
}

/** Returns the first line of a problem. A parser adds the lines around a mistake, and they may contain a password. */
function lineOf(problem: string): string {
  const [line = ''] = problem.split('\n', 1)
  return withoutSecrets(line)
}
