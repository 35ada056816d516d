import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { freePort } from '../support/free-port.ts'

const ROOT = join(import.meta.dirname, '../..')
const { dependencies }: { readonly dependencies: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
)

interface Registry {
  readonly url: string
  /** Bodies of the requests for advisories. */
  readonly asked: readonly string[]
}

/** Opens a server in the place of the npm registry. */
async function openRegistry(t: Test, body: string, status = 200): Promise<Registry> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    let received = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (received += chunk))
    request.on('end', () => {
      if (`${request.method} ${request.url}` === 'POST /-/npm/v1/security/advisories/bulk')
        asked.push(received)
      response.writeHead(status, { 'content-type': 'application/json' }).end(body)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const address = server.address()
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`, asked }
}

interface Ended {
  readonly code: unknown
  readonly out: string
}

function run(registry: string, program: string, args: readonly string[]): Promise<Ended> {
  const { NODE_OPTIONS: _, ...env } = process.env
  const options = { cwd: ROOT, encoding: 'utf8', env: { ...env, npm_config_registry: registry } } as const
  return new Promise((resolve) => {
    execFile(program, args, options, (error, out) => resolve({ code: error === null ? 0 : error.code, out }))
  })
}

const check = (registry: string) =>
  run(registry, process.execPath, [join(ROOT, 'release/check-advisories.mjs')])

function advisory(severity: string) {
  return { id: 1, title: 'Reads a secret', url: 'https://example.org/1', severity, vulnerable_versions: '*' }
}

t.test('a registry without an advisory for the locked versions passes', async (t) => {
  const registry = await openRegistry(t, '{}')
  const { code, out } = await check(registry.url)
  t.equal(code, 0)
  t.match(out, /^advisories: 0 high or critical, 0 lower, for \d+ packages\n$/)
  const asked: Readonly<Record<string, readonly string[]>> = JSON.parse(registry.asked.join(''))
  t.same(asked['saxes'], [dependencies['saxes']])
  t.ok(asked['@prometheus-io/client'], 'an alias is asked for by the name of the package')
  t.ok(asked['xmlchars'], 'packages of packages are asked for')
  t.notOk('tap' in asked, 'packages for development are not asked for')
})

t.test('an advisory of severity high or critical fails, and a lower one is printed', async (t) => {
  for (const [severity, code, line] of [
    ['low', 0, '0 high or critical, 1 lower'],
    ['moderate', 0, '0 high or critical, 1 lower'],
    ['high', 1, '1 high or critical, 0 lower'],
    ['critical', 1, '1 high or critical, 0 lower'],
  ] as const) {
    const registry = await openRegistry(t, JSON.stringify({ saxes: [advisory(severity)] }))
    const found = await check(registry.url)
    t.equal(found.code, code, severity)
    t.match(found.out, line)
    t.match(found.out, `advisories: saxes: ${severity}: Reads a secret (https://example.org/1)\n`)
  }
})

t.test('nothing is known of a registry that cannot be reached', async (t) => {
  const registry = `http://127.0.0.1:${await freePort()}/`
  t.same(await check(registry), {
    code: 2,
    out: `advisories: unknown, because ${registry} could not be asked: ECONNREFUSED\n`,
  })
})

t.test('a response that is no report is never good', async (t) => {
  for (const body of [
    '',
    'null',
    '[]',
    '"ok"',
    '<html></html>',
    '{"error":"not supported"}',
    '{"saxes":{"severity":"high"}}',
    '{"saxes":[{}]}',
    JSON.stringify({ saxes: [advisory('unheard-of')] }),
    JSON.stringify({ 'not-asked-for': [advisory('low')] }),
  ]) {
    const { url } = await openRegistry(t, body)
    t.same(
      await check(url),
      { code: 2, out: `advisories: unknown, because ${url} did not send a report\n` },
      body,
    )
  }
  const { url } = await openRegistry(t, '{}', 405)
  t.same(await check(url), {
    code: 2,
    out: `advisories: unknown, because ${url} responded with the status 405\n`,
  })
})

/** Runs the function of `.ci/run`, and prints its counts and what it adds to the failures. */
function runInCi(t: Test, registry: string): Promise<Ended> {
  const definition =
    /^check_advisories\(\) \{$.*?^\}$/ms.exec(readFileSync(join(ROOT, '.ci/run'), 'utf8'))?.[0] ?? ''
  const folder = t.testdir({ log: '', failures: '', parts: '' })
  const files = ['log', 'failures', 'parts'].map((name) => `${name}='${join(folder, name)}'`).join('\n')
  const result = 'echo "$passed passed, $failed failed, status $status"; cat "$failures"'
  const script = `${files}\npassed=0 failed=0 status=0\n${definition}\ncheck_advisories >/dev/null\n${result}`
  return run(registry, 'bash', ['-uo', 'pipefail', '-c', script])
}

t.test('the run of CI fails with an advisory, and counts nothing without a report', async (t) => {
  const clean = await openRegistry(t, '{}')
  t.equal((await runInCi(t, clean.url)).out, '1 passed, 0 failed, status 0\n')
  const affected = await openRegistry(t, JSON.stringify({ saxes: [advisory('high')] }))
  t.match((await runInCi(t, affected.url)).out, /^0 passed, 1 failed, status 1\n[^]*saxes: high/)
  const silent = await openRegistry(t, 'null')
  t.equal((await runInCi(t, silent.url)).out, '0 passed, 0 failed, status 0\n')
  t.match(readFileSync(join(ROOT, '.ci/run'), 'utf8'), /^check_advisories$/m)
})
