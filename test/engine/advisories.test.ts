import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { javaSkip } from '../support/requirements.ts'
import { makeFolder } from '../support/temporary-folder.ts'
import { FAMILIES, VERSIONS } from './build.ts'
import { startEngine } from './engine.ts'
import { type Ask, exchange } from './exchange.ts'
import { startGateway } from './gateway.ts'

/** Returns an expression with which the engine creates a file, as an attacker would run a command. */
function creating(file: string): string {
  const text = "''.getClass()"
  return `\${${text}.forName('java.io.File').getConstructor(${text}).newInstance('${file}').createNewFile()}`
}

/** Returns the requests of CVE-2026-109432 that an engine evaluates: the expression is in a query of an alternative. */
function alternativesWith(expression: string): readonly Ask[] {
  const query = { orQueries: [{ dueAfterExpression: expression, assignee: 'x' }] }
  return [
    { method: 'POST', path: '/task/count', body: query },
    { method: 'POST', path: '/task', body: query },
    { method: 'POST', path: '/task?maxResults=1', body: query },
    {
      method: 'POST',
      path: '/task',
      body: { orQueries: [{ name: 'x' }, { followUpBeforeExpression: expression }] },
    },
    { method: 'POST', path: '/task', body: { orQueries: [{ assigneeExpression: expression, name: 'x' }] } },
  ]
}

/** Returns further requests that the gateway must refuse, whether or not an engine evaluates them. */
function othersWith(expression: string): readonly Ask[] {
  const alternative = { dueAfterExpression: expression, assignee: 'x' }
  return [
    { method: 'POST', path: '/task', body: alternative },
    { method: 'POST', path: '/task', body: { orQueries: [{ orQueries: [alternative] }] } },
    {
      method: 'POST',
      path: '/filter/create',
      body: { resourceType: 'Task', name: 'x', query: { orQueries: [alternative] }, properties: {} },
    },
  ]
}

for (const family of FAMILIES)
  t.test(
    `CVE-2026-109432 in ${VERSIONS[family]} is refused by the gateway`,
    { skip: javaSkip },
    async (t) => {
      const engine = await startEngine({ family })
      t.teardown(() => engine.stop())
      const gateway = await startGateway(engine.base)
      t.teardown(gateway.drain)
      const folder = makeFolder(t)

      for (const [index, ask] of alternativesWith('').entries()) {
        const file = join(folder, String(index))
        const [direct] = alternativesWith(creating(file)).slice(index)
        if (direct !== undefined) await exchange(engine.base, direct)
        t.ok(existsSync(file), `the engine itself runs the code of ${ask.path} ${index}`)
      }
      const plain = { method: 'POST', path: '/task', body: { dueAfterExpression: '${now()}' } } as const
      t.equal((await exchange(engine.base, plain)).status, 400, 'the engine refuses only the plain form')

      const file = join(folder, 'through')
      const hostile = creating(file)
      for (const ask of [...alternativesWith(hostile), ...othersWith(hostile)]) {
        const { status, headers } = await exchange(gateway.base, ask, gateway.headers)
        t.same([status, headers.get('x-gateway-error')], [400, 'GW_HAZARD'], JSON.stringify(ask.body))
      }
      // An engine decodes the names of members.
      const escaped = JSON.stringify(alternativesWith(hostile)[0]?.body).replace('dueAfter', 'd\\u0075eAfter')
      const response = await fetch(`${gateway.base}/task`, {
        method: 'POST',
        headers: { ...gateway.headers, 'content-type': 'application/json' },
        body: escaped,
      })
      t.equal(response.headers.get('x-gateway-error'), 'GW_HAZARD')
      t.notOk(existsSync(file), 'no code of the caller ran')
    },
  )
