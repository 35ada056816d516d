import { test } from 'tap'
import type { Case } from '../policy/validation/cases/case.ts'
import { operationOf, titleOf } from '../policy/validation/cases/case.ts'
import { coercionCases } from '../policy/validation/cases/coercions.ts'
import { otherCases } from '../policy/validation/cases/others.ts'
import { taskQueryCases } from '../policy/validation/cases/task-queries.ts'
import { variableCases } from '../policy/validation/cases/variables.ts'
import { javaSkip } from '../support/requirements.ts'
import { startEngine } from './engine.ts'
import { exchange } from './exchange.ts'
import { seed } from './seed.ts'
import type { Seeded } from './seed.ts'

const CASES = [...taskQueryCases, ...variableCases, ...otherCases, ...coercionCases]

void test('the engine responds to every case of the validation tests as the cases expect', {
  skip: javaSkip,
}, async (t) => {
  const engine = await startEngine()
  t.teardown(() => engine.stop())
  const ids = await seed(engine.base)
  for (const one of CASES) {
    const answer = await send(engine.base, one, ids)
    if (typeof one.engine === 'number') t.equal(answer.status, one.engine, titleOf(one))
    else if (one.engine === 'unmapped')
      t.match(answer.status === 400 && isUnmapped(answer), true, titleOf(one))
    else t.same({ status: answer.status, ...Object(answer.body) }, withIds(one.engine, ids), titleOf(one))
  }
  const topics = `${engine.base}/external-task/topic-names?withUnlockedTasks=true`
  t.same(await (await fetch(topics)).json(), ['work'])
  t.same(await (await fetch(`${topics}&withLockedTasks=TRUE`)).json(), [])
})

void test('each rule is applied before or after the permission check, as in the engine', {
  skip: javaSkip,
}, async (t) => {
  const engine = await startEngine({ secured: true })
  t.teardown(() => engine.stop())
  const demo = basic('demo')
  const ids = await seed(engine.base, demo)
  const nobody = await createUser(engine.base, 'nobody')
  const reader = await createUser(engine.base, 'reader')
  for (const [resourceType, permissions] of [
    [6, ['READ', 'READ_INSTANCE', 'READ_TASK']],
    [7, ['READ']],
  ]) {
    const record = { type: 1, userId: 'reader', resourceType, resourceId: '*', permissions }
    await exchange(engine.base, { method: 'POST', path: '/authorization/create', body: record }, demo)
  }
  for (const one of CASES.filter(({ engine: told }) => typeof told === 'object')) {
    const callers = one.after === 0 ? [nobody, reader] : [nobody]
    for (const caller of callers) {
      const answer = await send(engine.base, one, ids, caller)
      const isSame = JSON.stringify(answer.body) === JSON.stringify(bodyOf(one, ids))
      t.equal(isSame, one.after === 0, `${one.after === 0 ? 'before' : 'after'}: ${titleOf(one)}`)
    }
    if (one.after !== 1 && one.after !== 2) continue
    // A reader passes the checks of read permissions. The only check of creating a record is a write permission, which the reader lacks.
    const passes = one.operation !== 'createAuthorization'
    const answer = await send(engine.base, one, ids, reader)
    t.equal(
      JSON.stringify(answer.body) === JSON.stringify(bodyOf(one, ids)),
      passes,
      `between: ${titleOf(one)}`,
    )
  }
})

interface Answer {
  readonly status: number
  readonly body: unknown
}

async function send(
  base: string,
  one: Case,
  ids: Seeded,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const { method, template } = operationOf(one)
  const path = template.replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(fill(one.params[name] ?? '', ids)),
  )
  const text = typeof one.body === 'string' ? one.body : JSON.stringify(one.body)
  const response = await fetch(`${base}${path}${one.query}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(text !== undefined && { body: fill(text, ids) }),
  })
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  return { status: response.status, body: isJson ? await response.json() : await response.text() }
}

function fill(text: string, ids: Seeded): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) =>
    name in ids ? String(Object(ids)[name]) : whole,
  )
}

function withIds(value: unknown, ids: Seeded): unknown {
  return JSON.parse(fill(JSON.stringify(value), ids))
}

function bodyOf({ engine }: Case, ids: Seeded): unknown {
  const { status: _, ...body } = Object(withIds(engine, ids))
  return body
}

/** Returns whether the body is that of an unreadable request. The engine uses one of two forms, chosen when its process starts. */
function isUnmapped({ body }: Answer): boolean {
  if (typeof body === 'string') return body !== ''
  return JSON.stringify(body) === '{"type":"InvalidRequestException","message":"","code":null}'
}

async function createUser(base: string, id: string): Promise<Record<string, string>> {
  const profile = { id, firstName: id, lastName: id, email: '' }
  const body = { profile, credentials: { password: id } }
  await exchange(base, { method: 'POST', path: '/user/create', body }, basic('demo'))
  return basic(id)
}

function basic(name: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${name}:${name}`).toString('base64')}` }
}
