import { fastify } from 'fastify'
import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import type { Method } from '../../src/operations/table.ts'
import { createPathTemplates } from '../../src/pipeline/path-templates.ts'
import { openRouter } from '../support/open-router.ts'

const BASE = '/engine-rest'
const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']
const templates = createPathTemplates(OPERATIONS, BASE)

/** Returns paths that match a template: each parameter is a text, or a literal of a template with the same first segment. */
function pathsOf(template: string): readonly string[] {
  if (!template.includes(':')) return [template]
  const [, first] = template.split('/')
  const literals = OPERATIONS.map((operation) => operation.template.split('/').slice(1))
    .filter((segments) => segments[0] === first)
    .flat()
    .filter((segment) => !segment.startsWith(':'))
  return ['x', '%3Akey', 'caf%C3%A9', ...new Set(literals)].map((text) => template.replaceAll(/:\w+/g, text))
}

t.test('the methods of a path are those of the template that the router prefers', async (t) => {
  const app = fastify({ exposeHeadRoutes: false })
  for (const { template } of templates.all)
    app.trace(BASE + template, (request, reply) => reply.send(request.routeOptions.url))
  const allowOf = new Map(
    templates.all.map(({ template, methods }) => [BASE + template, [...methods].join(', ')]),
  )
  const wrong: string[] = []
  for (const { template } of templates.all)
    for (const path of pathsOf(template)) {
      const { body } = await app.inject({ method: 'TRACE', url: BASE + path })
      if (templates.methodsOf(`${BASE + path}?a=b`) !== allowOf.get(body)) wrong.push(path)
    }
  t.same(wrong, [])
  await app.close()
})

t.test('a path outside the table has no methods, and a literal may be encoded', (t) => {
  for (const path of ['', '/nosuch', '/task/x/nosuch', '/task/x/claim/y', '/tas', '/tasks'])
    t.equal(templates.methodsOf(BASE + path), null, path)
  t.equal(templates.methodsOf(`${BASE}/%74ask/count`), 'GET, HEAD, POST')
  t.end()
})

t.test('no method of a path leads to an operation of another path', async (t) => {
  const matched = await openRouter(t)
  const wrong: string[] = []
  for (const { template, methods } of templates.all)
    for (const path of pathsOf(template).slice(0, 1))
      for (const method of METHODS) {
        const found = await matched(path, method)
        if (found?.template !== (methods.has(method) ? template : undefined)) wrong.push(`${method} ${path}`)
      }
  t.same(wrong, [])
  // `key` would be the id of a definition.
  t.equal(await matched('/decision-definition/key/evaluate', 'POST'), null)
})
