import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import type { Operation } from '../../../src/operations/table.ts'
import { type Answer, type Ask, BASE, openGateway } from '../../support/open-gateway.ts'

/*
 * A client knows an engine by the gateway's name for it. These tests send every operation to an engine that has another name on
 * its nodes. Each response of the engine has links, and values of users that look like links.
 */

const NAME = { gateway: 'orders', engine: 'inner' }
const HOST = { host: 'public.example:8443' }
const MULTIPART = { ...HOST, 'content-type': 'multipart/form-data; boundary=b' }
const FORM = ['--b', 'Content-Disposition: form-data; name="data"', '', 'x', '--b--', ''].join('\r\n')

function addressAt(name: string): string {
  return `http://${HOST.host}${BASE}/engine/${name}`
}

function linksTo(name: string): string {
  const hrefs = ['', '/', '/task/x', '?a=b'].map((end) => addressAt(name) + end)
  return JSON.stringify(hrefs.map((href) => ({ method: 'GET', href, rel: 'self' })))
}

function bodyWith(links: string): string {
  const href = `${addressAt(NAME.engine)}/task/x`
  const value = JSON.stringify(`{"links":[{"href":"${href}"}]}`)
  const variables = `{"href":{"value":${value}},"b":{"value":"\\"href\\":\\"${href}"}}`
  return `{"links":${links},"id":"x","url":"${href}","variables":${variables},"digits":12345678901234567890}`
}

const { ask } = await openGateway(t, {
  settings: {
    authorization: { mode: 'off', records: { source: 'file', file: 'records.yaml' } },
    validation: { mode: 'off' },
  },
  engines: { [NAME.gateway]: { remoteName: NAME.engine } },
  engine: (_request, response) => {
    const location = `${addressAt(NAME.engine)}/task/x`
    const headers = { 'content-type': 'application/json', location }
    response.writeHead(200, headers).end(bodyWith(linksTo(NAME.engine)))
  },
})

function askOf({ method, media }: Operation): Ask {
  if (media === 'multipart') return { headers: MULTIPART, body: FORM }
  return { headers: HOST, ...(method !== 'GET' && media === undefined && { body: {} }) }
}

function pathOf({ template }: Operation): string {
  return template.replaceAll(/:\w+/g, 'x')
}

/** Whether the engine received the request itself. The gateway answers a few operations alone. */
function isForwarded(operation: Operation, { forwarded }: Answer): boolean {
  const path = `${BASE}/engine/${NAME.engine}${pathOf(operation)}`
  return forwarded.some(({ method, url }) => method === operation.method && url === path)
}

t.test("no response has the engine's own name in a link or in a header", async (t) => {
  const counts = { rewritten: 0, unchanged: 0, own: 0 }
  for (const operation of OPERATIONS) {
    const { id, method, links } = operation
    const answer = await ask(
      'demo',
      `${method} /engine/${NAME.gateway}${pathOf(operation)}`,
      askOf(operation),
    )
    t.notMatch(JSON.stringify(answer.headers), NAME.engine, id)
    if (!isForwarded(operation, answer)) {
      counts.own += 1
      t.notMatch(answer.bytes.toString(), NAME.engine, id)
    } else {
      counts[links !== undefined ? 'rewritten' : 'unchanged'] += 1
      const own = linksTo(links !== undefined ? NAME.gateway : NAME.engine)
      t.equal(answer.bytes.toString(), bodyWith(own), id)
    }
  }
  t.same(counts, { rewritten: 23, unchanged: OPERATIONS.length - 25, own: 2 })
})

t.test('a property of a new filter that looks like a link is not changed', async (t) => {
  const href = `${addressAt(NAME.engine)}/task/x`
  const created = JSON.stringify({ id: 'f', resourceType: 'Task', properties: { href } })
  const gateway = await openGateway(t, {
    engines: { [NAME.gateway]: { remoteName: NAME.engine } },
    engine: (_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(created),
  })
  const body = { resourceType: 'Task', name: 'mine', properties: { href } }
  const answer = await gateway.ask('demo', `POST /engine/${NAME.gateway}/filter/create`, {
    headers: HOST,
    body,
  })
  t.equal(answer.bytes.toString(), created)
})
