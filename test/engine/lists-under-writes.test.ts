import { test } from 'tap'
import { createAdmin, idOf, rowsOf, textOf } from '../differential/admin.ts'
import { basicOf, type Client, jsonOf } from '../differential/http.ts'
import { inParallel } from '../differential/in-parallel.ts'
import { PASSWORD } from '../differential/sets.ts'
import { makeCaller, openGatewayFor, startScaleEngines } from '../scale/engines.ts'
import { javaSkip } from '../support/requirements.ts'

const KEYS = ['one', 'two', 'three', 'hidden']
const SEEN = ['one', 'two', 'three']
/** Enough instances that the gateway locates late pages with counts. */
const STANDING = 600
const PAGE = 60
const IN_FLIGHT = 4
/** Lists with different plans: one rewritten query, one subquery for each definition, and lists of instances. */
const LISTS = ['/process-instance', '/execution', '/history/activity-instance', '/variable-instance']

const SEE = ['READ', 'READ_INSTANCE', 'READ_TASK', 'READ_HISTORY']
const CALLER = {
  user: 'scalebusy',
  tenants: [],
  records: SEEN.map((resourceId) => ({
    type: 1,
    resourceType: 6,
    resourceId,
    permissions: SEE,
    userId: 'scalebusy',
  })),
}

function bpmnOf(key: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:camunda="http://camunda.org/schema/1.0/bpmn" targetNamespace="busy">
<process id="${key}" isExecutable="true" camunda:historyTimeToLive="P30D">
<startEvent id="start"/><sequenceFlow id="f1" sourceRef="start" targetRef="node"/><userTask id="node"/>
<sequenceFlow id="f2" sourceRef="node" targetRef="end"/><endEvent id="end"/></process></definitions>`
}

void test('pages of a restricted caller while others start and end instances', {
  skip: javaSkip,
}, async (t) => {
  const engines = await startScaleEngines(t.testdir(), '1g')
  t.teardown(engines.stop)
  const { atBare, atSecured } = engines
  const admin = createAdmin(atBare)
  for (const key of KEYS)
    await admin.upload('/deployment/create', [
      { name: 'deployment-name', value: key },
      { name: `${key}.bpmn`, value: bpmnOf(key), file: `${key}.bpmn` },
    ])
  let made = 0
  const start = async () => {
    const key = KEYS[(made += 1) % KEYS.length] ?? ''
    const variables = { colour: { value: 'red', type: 'String' } }
    return idOf(await admin.call('POST', `/process-definition/key/${key}/start`, { variables }))
  }
  const startMany = async (count: number) => {
    const ids: string[] = []
    await inParallel(Array.from({ length: count }), IN_FLIGHT, async () => void ids.push(await start()))
    return ids
  }
  await startMany(STANDING)
  await makeCaller(createAdmin(atSecured), CALLER)
  const gateway = await openGatewayFor(engines, [CALLER])
  t.teardown(gateway.close)
  const sides = { engine: atSecured, gateway: gateway.client }
  const definitions = rowsOf(await admin.call('GET', '/process-definition'))
  const idsSeen = new Set(
    definitions.filter((row) => SEEN.includes(textOf(row, 'key'))).map((row) => textOf(row, 'id')),
  )

  for (const list of LISTS)
    for (const [name, client] of Object.entries(sides)) {
      const standing = (await readWhole(client, list)).map((row) => textOf(row, 'id'))
      t.ok(standing.length > 3 * PAGE, `${list}, ${name}: ${standing.length} rows`)

      await t.test(`${list} of the ${name} loses no item while instances are started`, async (t) => {
        const writes = beside(async () => (await start()) !== '')
        const pages = await readPages(client, list)
        const whole = await readWhole(client, list)
        t.ok((await writes.end()) > 0, 'others have written')
        checkRows(t, [...pages, whole], idsSeen)
        // New items move other items to later pages, never to earlier ones.
        const ids = new Set(pages.flat().map((row) => textOf(row, 'id')))
        t.same(
          standing.filter((id) => !ids.has(id)),
          [],
          'no row that stands is lost between pages',
        )
        const wholeIds = new Set(whole.map((row) => textOf(row, 'id')))
        t.same(
          standing.filter((id) => !wholeIds.has(id)),
          [],
          'nor of the whole list',
        )
      })

      await t.test(`${list} of the ${name} loses no item while instances are deleted`, async (t) => {
        const going = await startMany(80)
        const writes = beside(async () => {
          const id = going.pop()
          if (id === undefined) return false
          await admin.call('DELETE', `/process-instance/${id}`)
          return true
        })
        const pages = await readPages(client, list)
        const whole = await readWhole(client, list)
        t.ok((await writes.end()) > 0, 'others have written')
        checkRows(t, [...pages, whole], idsSeen)
        if (!list.startsWith('/history')) {
          // Deleted items move other items to earlier pages, never to later ones.
          const ids = pages.flat().map((row) => textOf(row, 'id'))
          t.equal(new Set(ids).size, ids.length, 'no row is on two pages')
        }
        const wholeIds = new Set(whole.map((row) => textOf(row, 'id')))
        t.same(
          standing.filter((id) => !wholeIds.has(id)),
          [],
          'no row that stands is lost',
        )
        await inParallel(
          going,
          IN_FLIGHT,
          async (id) => void (await admin.call('DELETE', `/process-instance/${id}`)),
        )
      })
    }
})

type Row = ReturnType<typeof rowsOf>[number]

function checkRows(
  t: { readonly equal: (one: unknown, other: unknown, name: string) => unknown },
  pages: readonly (readonly Row[])[],
  idsSeen: ReadonlySet<string>,
): void {
  const twice = pages.filter((page) => new Set(page.map((row) => textOf(row, 'id'))).size !== page.length)
  t.equal(twice.length, 0, `of ${pages.length} pages none has a row twice`)
  const others = pages.flat().filter(({ definitionId, processDefinitionId }) => {
    const id = definitionId ?? processDefinitionId
    return typeof id === 'string' && !idsSeen.has(id)
  })
  t.equal(others.length, 0, 'no row is of a definition that may not be seen')
}

/** Repeats the work until it is ended or no work is left. */
function beside(work: () => Promise<boolean>): { readonly end: () => Promise<number> } {
  const ending = new AbortController()
  let count = 0
  const done = (async () => {
    while (await work()) {
      count += 1
      if (ending.signal.aborted) break
    }
    return count
  })()
  done.catch(() => undefined)
  return {
    end: () => {
      ending.abort()
      return done
    },
  }
}

async function readPages(client: Client, list: string): Promise<readonly (readonly Row[])[]> {
  const pages: (readonly Row[])[] = []
  for (let first = 0; ; first += PAGE) {
    const page = await read(client, `${list}?firstResult=${first}&maxResults=${PAGE}`)
    pages.push(page)
    if (page.length < PAGE) return pages
  }
}

function readWhole(client: Client, list: string): Promise<readonly Row[]> {
  return read(client, list)
}

async function read({ send }: Client, path: string): Promise<readonly Row[]> {
  const answer = await send({ method: 'GET', path }, basicOf(CALLER.user, PASSWORD))
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.bytes.toString()}`)
  return rowsOf(jsonOf(answer))
}
