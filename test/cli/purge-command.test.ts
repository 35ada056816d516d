import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'
import { startNode } from '../support/fake-engine.ts'
import { startReloadable } from '../support/reloadable.ts'
import { runInProcess } from '../support/run-command.ts'

const TOKEN = 'abcdefghij-0123456789'
const DIAGRAM = '<svg xmlns="http://www.w3.org/2000/svg"/>'

const node = await startNode(t, ({ url }, response) => {
  if (url.endsWith('/diagram')) response.setHeader('content-type', 'image/svg+xml').end(DIAGRAM)
  else response.setHeader('content-type', 'application/json').end('{"id":"a","key":"a","tenantId":null}')
})
const { running, file, ask } = await startReloadable(t, {
  engines: { default: { nodes: [`${node.url}/engine-rest`] } },
  health: { probe: false },
  admin: { port: 0, token: TOKEN },
})
const tokenFile = join(dirname(file), 'token')
await writeFile(tokenFile, TOKEN)

const purge = (...options: readonly string[]) =>
  runInProcess(['purge', '--config', file, '--admin', running.adminAddress, ...options])

/** Returns the source of the diagram: the engine or the cache. */
async function readDiagram(): Promise<string> {
  const response = await ask('demo', '/process-definition/a/diagram')
  t.equal(await response.text(), DIAGRAM)
  return /;\s*hit/.test(response.headers.get('cache-status') ?? '') ? 'cache' : 'engine'
}

t.test('purge removes cached responses', async (t) => {
  t.equal(await readDiagram(), 'engine')
  t.equal(await readDiagram(), 'cache')
  const { code, out, err } = await purge('--token-file', tokenFile)
  t.same({ code, out, err }, { code: 0, out: '1 cached response removed from 1 process\n', err: '' })
  t.equal(await readDiagram(), 'engine')
  const metrics = await fetch(`${running.adminAddress}/metrics`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  })
  t.match(await metrics.text(), /^gateway_cache_purges_total\{result="purged"\} 1$/m)
})

t.test('purge removes only responses of the given engine and tag', async (t) => {
  await readDiagram()
  const json = ['--token-file', tokenFile, '--format', 'json']
  const other = await purge('--engine', 'default', '--tag', 'external-task', ...json)
  t.same(JSON.parse(other.out), { evicted: 0, processes: 1, redis: 'none' })
  t.equal(await readDiagram(), 'cache')
  const same = await purge('--engine', 'default', '--tag', 'deployment', ...json)
  t.match(JSON.parse(same.out), { evicted: 1 })
})

t.test('purge without the token, or of an unknown engine or tag, fails and removes nothing', async (t) => {
  await readDiagram()
  const wrong = join(dirname(file), 'wrong')
  await writeFile(wrong, `${TOKEN}x`)
  t.match(await purge('--token-file', wrong), { code: 2, err: /the token is missing or wrong/ })
  t.match(await purge('--token-file', tokenFile, '--engine', 'other'), {
    code: 2,
    err: /The engine is not configured/,
  })
  t.match(await purge('--token-file', tokenFile, '--tag', 'other'), { code: 2, err: /--tag/ })
  t.equal(await readDiagram(), 'cache')
})

t.test('POST /cache/purge is refused without X-Requested-By and from a page of another origin', async (t) => {
  await readDiagram()
  const authorization = `Bearer ${TOKEN}`
  for (const headers of [{}, { 'x-requested-by': 'a', origin: 'http://example.com' }]) {
    const init = { method: 'POST', headers: { authorization, ...headers } }
    t.equal((await fetch(`${running.adminAddress}/cache/purge`, init)).status, 403)
  }
  t.equal(await readDiagram(), 'cache')
  const init = { method: 'POST', headers: { authorization, 'x-requested-by': 'a' } }
  const response = await fetch(`${running.adminAddress}/cache/purge`, init)
  t.same(await response.json(), { evicted: 1, processes: 1, redis: 'none' })
})
