import { readFileSync } from 'node:fs'
import t from 'tap'
import { accessRecordOf, shownPathOf } from '../../src/metrics/access-log.ts'
import type { Access } from '../../src/metrics/access-log.ts'

const access: Access = {
  requestId: 'r-1',
  traceId: '0af7651916cd43dd8448eb211c80319c',
  operation: 'getTask',
  engine: 'default',
  method: 'GET',
  prefix: '/app',
  path: '/app/x',
  status: 200,
  durationMs: 1.23456,
  client: '203.0.113.9',
  user: 'demo',
  attemptedUser: 'mary',
  node: 'http://engine-a:8080/engine-rest',
  cache: 'engine-gateway; hit; ttl=1; detail=memory',
  bytes: 0,
  error: 'GW_NO_NODE',
}

t.test('a line of the access log contains all known values', async (t) => {
  t.same(accessRecordOf(access), { ...access, durationMs: 1.235 })
})

t.test('unknown values are left out of the access log, and zero is not', async (t) => {
  const record = accessRecordOf({
    ...access,
    traceId: null,
    operation: '',
    engine: null,
    prefix: null,
    path: null,
    client: '',
    user: null,
    attemptedUser: null,
    node: null,
    cache: null,
    error: null,
  })
  t.same(record, { requestId: 'r-1', method: 'GET', status: 200, durationMs: 1.235, bytes: 0 })
})

t.test('a value in the access log has at most 256 characters and no cut character', async (t) => {
  t.equal(accessRecordOf({ ...access, user: 'u'.repeat(5000) })['user'], `${'u'.repeat(255)}…`)
  t.equal(accessRecordOf({ ...access, user: 'u'.repeat(256) })['user'], 'u'.repeat(256))
  t.equal(accessRecordOf({ ...access, user: `${'u'.repeat(254)}😀😀` })['user'], `${'u'.repeat(254)}…`)
})

t.test('a path is logged without authority, query and matrix parameters, in visible ASCII', async (t) => {
  const cases: readonly (readonly [target: string, shown: string])[] = [
    ['/rest/task?password=hush', '/rest/task'],
    ['/a#hush', '/a'],
    ['/a;jsessionid=hush/b;x=hush', '/a;…/b;…'],
    ['http://mary:hush@gateway/a/../b?hush', '/a/../b'],
    ['http://gateway', ''],
    ['/a\n{"level":"info"}\u007f\u001b[0m', '/a%0A{"level":"info"}%7F%1B[0m'],
    ['/\u00e4 b\u0085', '/%E4%20b%85'],
    ['*', '*'],
    ['', ''],
  ]
  for (const [target, shown] of cases) t.equal(shownPathOf(target), shown, JSON.stringify(target))
  t.ok(shownPathOf(`/${'\u00ff'.repeat(16_384)}`).length < 4096)
})

t.test('docs/access-log.md describes each member in the order of the line', async (t) => {
  const page = readFileSync(new URL('../../docs/access-log.md', import.meta.url), 'utf8')
  const members = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
  t.same(members, Object.keys(accessRecordOf(access)))
})
