import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Why tests that need a real engine are skipped; false when they run. For tap's `{ skip }`. */
export const javaSkip = skipOf('a real engine', ['java', 'mvn'])

/** Why tests that need a Redis server are skipped; false when they run. For tap's `{ skip }`. */
export const redisSkip = skipOf('Redis', ['redis-server'])

/** Why tests of the chart are skipped; false when they run. For tap's `{ skip }`. */
export const helmSkip = skipOf('Helm', ['helm'])

/** Why tests with a real browser are skipped; false when they run. For tap's `{ skip }`. */
export const chromiumSkip = skipOf('a browser', ['chromium'])

/** Why tests of alerts and of what is scraped are skipped; false when they run. For tap's `{ skip }`. */
export const promtoolSkip = skipOf('Prometheus', ['promtool'])

/** Why tests of the chart with the schemas of Kubernetes are skipped; false when they run. Asked where it is needed: it fails nobody else. */
export const kubernetesSkip = () =>
  skipOf('what helm/install-tools installs', ['helm', 'kubectl-validate', 'kube-score'])

/** Why tests of completion are skipped; false when they run. Asked where it is needed: it fails nobody else. */
export const shellSkip = (shell: 'zsh' | 'fish') => skipOf(`the shell ${shell}`, [shell])

/** Why drills of certificates are skipped; false when they run. Asked where it is needed: it fails nobody else. */
export const opensslSkip = () => skipOf('certificates that end soon', ['openssl'])

/** Of generated inputs. Another one makes other inputs: `GATEWAY_TEST_SEED=7 npx tap run …`. */
export const seed = Number(process.env['GATEWAY_TEST_SEED'] ?? 1)

function skipOf(what: string, programs: readonly string[]): string | false {
  const missing = programs.filter((program) => !isOnPath(program))
  if (missing.length === 0) return false
  const reason = `needs ${what}: not on PATH: ${missing.join(', ')}`
  if (process.env['GATEWAY_TEST_REQUIRE_ALL'] === '1') throw new Error(reason)
  return reason
}

function isOnPath(program: string): boolean {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.some((folder) => isExecutable(join(folder, program)))
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
