import type { ServerResponse } from 'node:http'
import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { RESOURCES } from '../../../src/operations/permissions.ts'
import type { Seen } from '../../support/fake-engine.ts'
import { BASE, openGateway } from '../../support/open-gateway.ts'

/* For every operation that returns items: a list that cannot be read shows no items to a caller who may see some of them. */

/** Permissions on one id of every resource. For process definitions it is the definition that the engine lists. */
const records = Object.keys(RESOURCES).map(
  (resource) => `grant anna ${resource}:${resource === 'PROCESS_DEFINITION' ? 'a' : 'x'} ALL`,
)
/** Requests for definitions. The engine answers them, so that a plan can be made. Each test answers all other requests. */
const OF_DEFINITIONS = /^\/process-definition(?:\/x.*)?$/
/**
 * Lists to request. Fetches of external tasks are left out: they request only tasks that the caller may lock, so every task in the response
 * belongs to the caller.
 */
const ASKED = OPERATIONS.flatMap(({ items, method, template, media }) => {
  const path = template.replaceAll(/:\w+/g, 'x')
  if (items === undefined || items.form === 'locks' || OF_DEFINITIONS.test(path)) return []
  return [{ route: `${method} ${path}`, ask: method === 'POST' && media === undefined ? { body: {} } : {} }]
})
const SECRET = 'of somebody else'

type Answering = (response: ServerResponse) => void

function engineWith(answer: Answering) {
  return ({ url }: Seen, response: ServerResponse) => {
    const [path = ''] = url.slice(BASE.length).split('?')
    return OF_DEFINITIONS.test(path)
      ? json(response, 200, [{ id: 'd', key: 'a', tenantId: null }])
      : answer(response)
  }
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const REFUSAL = { type: 'ProcessEngineException', message: SECRET, code: 0 }

const ANSWERS: Readonly<Record<string, Answering>> = {
  'an error': (response) => json(response, 500, REFUSAL),
  'no such thing': (response) => json(response, 404, REFUSAL),
  'a bad request': (response) => json(response, 400, REFUSAL),
  'no items, but one': (response) => json(response, 200, { name: SECRET }),
  'rows that are none': (response) => json(response, 200, [SECRET, 7]),
  'half a list': (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(`[{"id":"${SECRET}"`),
  'no JSON': (response) =>
    response.writeHead(200, { 'content-type': 'text/plain' }).end(`<html>${SECRET}</html>`),
  nothing: (response) => response.writeHead(204).end(),
}

for (const [what, answer] of Object.entries(ANSWERS))
  t.test(`if the engine responds with ${what}, no item is shown`, async (t) => {
    const { ask } = await openGateway(t, { records, engine: engineWith(answer) })
    for (const { route, ask: question } of ASKED) {
      const { status, body, forwarded } = await ask('anna', route, question)
      const shown = JSON.stringify(body)
      // Nothing is requested if nothing may be visible. A response without a body has no items.
      const isEmpty = shown === '""' || (/^(?:\[\]|\{"count":0\})$/.test(shown) && forwarded.length === 0)
      t.ok(status >= 400 || isEmpty, `${route}: ${status} ${shown.slice(0, 120)}`)
    }
  })
