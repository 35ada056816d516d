// Asks the npm registry for advisories of the packages that production needs, in the versions of package-lock.json. Prints one line, and
// one more for each advisory. `npm audit` is not used, because it also takes some responses without a report for one without an advisory.
//
//   node release/check-advisories.mjs
//
// Exit code 0: the registry knows no advisory of severity high or critical. 1: it knows one. 2: the registry could not be asked, or did
// not send a report, so nothing is known. The variable npm_config_registry names another registry.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const FAILING = ['high', 'critical']
const SEVERITIES = ['info', 'low', 'moderate', ...FAILING]
const TIMEOUT_MS = 30_000

const versions = productionVersions(join(import.meta.dirname, '..', 'package-lock.json'))
const registry = process.env.npm_config_registry ?? 'https://registry.npmjs.org/'
const advisories = await advisoriesOf(versions)
if (typeof advisories === 'string') {
  console.log(`advisories: unknown, because ${registry} ${advisories}`)
  process.exit(2)
}
const failing = advisories.filter(({ severity }) => FAILING.includes(severity))
console.log(
  `advisories: ${failing.length} high or critical, ${advisories.length - failing.length} lower, for ${Object.keys(versions).length} packages`,
)
for (const { name, severity, title, url } of advisories)
  console.log(`advisories: ${name}: ${severity}: ${title} (${url})`)
process.exitCode = failing.length === 0 ? 0 : 1

/** Returns the versions of each package that is not only for development, as the registry expects them. */
function productionVersions(file) {
  const { packages } = JSON.parse(readFileSync(file, 'utf8'))
  const found = {}
  for (const [path, { name = path.replace(/^.*node_modules\//, ''), version, dev }] of Object.entries(
    packages,
  ))
    if (path !== '' && dev !== true) found[name] = [...new Set([...(found[name] ?? []), version])]
  return found
}

/** Returns the advisories that affect one of the versions, or why they are not known. */
async function advisoriesOf(packages) {
  try {
    const response = await fetch(new URL('-/npm/v1/security/advisories/bulk', registry), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(packages),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    if (response.status !== 200) return `responded with the status ${response.status}`
    return listOf(await response.text(), packages) ?? 'did not send a report'
  } catch (error) {
    return `could not be asked: ${error.cause?.code ?? error.name}`
  }
}

/** Returns the advisories of a report: lists by the name of a package. Null if any part has another form. */
function listOf(text, packages) {
  const report = parsed(text)
  if (typeof report !== 'object' || report === null || Array.isArray(report)) return null
  const isReport = Object.entries(report).every(
    ([name, list]) => Object.hasOwn(packages, name) && Array.isArray(list) && list.every(isAdvisory),
  )
  if (!isReport) return null
  return Object.entries(report).flatMap(([name, list]) => list.map((advisory) => ({ ...advisory, name })))
}

function isAdvisory(value) {
  const { severity, title, url } = Object(value)
  return SEVERITIES.includes(severity) && typeof title === 'string' && typeof url === 'string'
}

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
