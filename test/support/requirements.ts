import { accessSync, constants, globSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Why tests that need a real engine are skipped, or false if they run. For tap's `{ skip }`. */
export const javaSkip = skipOf('a real engine', ['java', 'mvn'])

/** Why tests that need a Redis server are skipped, or false if they run. For tap's `{ skip }`. */
export const redisSkip = skipOf('Redis', ['redis-server'])

/** The folders of PostgreSQL's programs. Debian does not add its folder to PATH. */
const POSTGRES_FOLDERS = [...globSync('/usr/lib/postgresql/*/bin'), ...foldersOnPath()]

/** The folder with the programs of PostgreSQL, or null if it is not installed. */
export const postgresFolder = POSTGRES_FOLDERS.find((folder) => isExecutable(join(folder, 'initdb'))) ?? null

/** Returns why tests with PostgreSQL are skipped, or false if they run. A function, so that a missing program fails only the tests that need it. */
export const postgresSkip = () => skipOf('PostgreSQL', ['initdb', 'postgres'], POSTGRES_FOLDERS)

/** Why tests of commands for readers of the audit stream are skipped, or false if they run. For tap's `{ skip }`. */
export const jqSkip = skipOf('jq', ['jq'])

/** Why tests of the chart are skipped, or false if they run. For tap's `{ skip }`. */
export const helmSkip = skipOf('Helm', ['helm'])

/** Why tests with a real browser are skipped, or false if they run. For tap's `{ skip }`. */
export const chromiumSkip = skipOf('a browser', ['chromium'])

/** Why tests of alerts and of scraped metrics are skipped, or false if they run. For tap's `{ skip }`. */
export const promtoolSkip = skipOf('Prometheus', ['promtool'])

/**
 * Returns why tests of the chart against the Kubernetes schemas are skipped, or false if they run. A function, so that
 * missing tools fail only the tests that need them.
 */
export const kubernetesSkip = () =>
  skipOf('what helm/install-tools installs', ['helm', 'kubectl-validate', 'kube-score'])

/** Returns why tests of the systemd unit are skipped, or false if they run. A function, so that a missing tool fails only the tests that need it. */
export const systemdSkip = () => skipOf('systemd', ['systemd-analyze'])

/** Returns why drills of certificates are skipped, or false if they run. A function, so that a missing tool fails only the tests that need it. */
export const opensslSkip = () => skipOf('certificates that end soon', ['openssl'])

/** Whether tests with generated inputs make all of them, as in `.ci/run`. */
export const hasFullSize = process.env['GATEWAY_TEST_REQUIRE_ALL'] === '1'

/** Seed of the generated inputs. To generate other inputs, set another seed: `GATEWAY_TEST_SEED=7 npx tap run …`. */
export const seed = Number(process.env['GATEWAY_TEST_SEED'] ?? 1)

/** Returns the seeds of `count` generated inputs. Two values of GATEWAY_TEST_SEED have no seed in common. */
export function seedsOf(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => (seed - 1) * count + at + 1)
}

function skipOf(
  what: string,
  programs: readonly string[],
  folders: readonly string[] = foldersOnPath(),
): string | false {
  const missing = programs.filter((program) => !folders.some((folder) => isExecutable(join(folder, program))))
  if (missing.length === 0) return false
  const reason = `needs ${what}: not on PATH: ${missing.join(', ')}`
  if (process.env['GATEWAY_TEST_REQUIRE_ALL'] === '1') throw new Error(reason)
  return reason
}

function foldersOnPath(): readonly string[] {
  return (process.env['PATH'] ?? '').split(delimiter)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
