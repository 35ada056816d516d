import t from 'tap'
import type { Test } from 'tap'
import { startSandbox } from '../../sandbox/sandbox.ts'
import type { Sandbox } from '../../sandbox/sandbox.ts'
import { startEngine } from './engine.ts'
import { exchange } from './exchange.ts'
import type { Answer } from './exchange.ts'
import { nineteen } from './nineteen.ts'
import { normalize } from './normalize.ts'
import { seed } from './seed.ts'
import { javaSkip } from '../support/requirements.ts'
import { asksOf, idsOf } from '../sandbox/asks.ts'
import { errorCasesOf } from '../sandbox/error-cases.ts'
import { typesOf } from '../sandbox/members.ts'

void t.test('the sandbox has the responses of a real engine', { skip: javaSkip }, async (t) => {
  const [engine, sandbox] = await Promise.all([startEngine(), startSandbox()])
  t.teardown(() => Promise.all([engine.stop(), sandbox.close()]))
  const seeded = await seed(engine.base)
  const asks = await asksOf(sandbox.base)

  for (const scenario of nineteen) {
    const { operation } = scenario
    await t.test(operation, async (t) => {
      const ask = asks[operation]
      if (ask === undefined) throw new Error(`the sandbox is not asked for ${operation}`)
      const real = await exchange(engine.base, scenario.request(seeded))
      const ours = await exchange(sandbox.base, ask)
      t.equal(ours.status, real.status)
      t.same(headersOf(ours), headersOf(real))
      sameTypes(t, ours.body, real.body)
    })
  }

  await t.test('the sandbox responds to lookups as a real engine does', async (t) => {
    for (const [list, single] of lookUps) {
      const both = [sandbox.base, engine.base] as const
      const path = `${list}${list.includes('?') ? '&' : '?'}maxResults=1`
      const [mine, its] = await Promise.all(both.map((base) => idsOf(base, path)))
      const paths = [[path, path], ...(single === undefined ? [] : [[single + mine?.[0], single + its?.[0]]])]
      for (const [minePath = '', itsPath = ''] of paths) {
        const ours = await exchange(sandbox.base, { method: 'GET', path: minePath })
        const real = await exchange(engine.base, { method: 'GET', path: itsPath })
        t.same(
          { status: ours.status, headers: headersOf(ours) },
          { status: 200, headers: headersOf(real) },
          itsPath,
        )
        sameTypes(t, ours.body, real.body)
      }
    }
  })

  await t.test('a real engine refuses requests as the table of error cases expects', async (t) => {
    const { movingFirstId, movingSecondId, reviewInstanceId: instanceId } = seeded
    for (const { ask, status, body } of errorCasesOf({
      instanceId,
      versions: [movingFirstId, movingSecondId],
    })) {
      const real = await exchange(engine.base, ask)
      t.same({ status: real.status, body: real.body }, { status, body }, `${ask.method} ${ask.path}`)
    }
  })

  await t.test('the sandbox responds as a real engine with the deployments of the sandbox', async (t) => {
    const base = `${engine.base}/engine/second`
    await deployFrom(sandbox, base)
    for (const [method, path, body] of sameAsks) {
      const [real, ours] = [
        await exchange(base, { method, path, body }),
        await exchange(sandbox.base, { method, path, body }),
      ]
      const hidden = ['deploymentId', 'href', 'message']
      t.same(normalize(ours.body, hidden), normalize(real.body, hidden), `${method} ${path}`)
    }
  })
})

/** A list, and the path at which one of its items can be read. */
const lookUps: readonly (readonly [list: string, single?: string])[] = [
  ['/task', '/task/'],
  ['/process-instance', '/process-instance/'],
  ['/process-instance', '/history/process-instance/'],
  ['/execution', '/execution/'],
  ['/event-subscription'],
  ['/external-task'],
  ['/process-definition', '/process-definition/'],
  ['/decision-definition', '/decision-definition/'],
  ['/history/decision-instance', '/history/decision-instance/'],
  ['/history/external-task-log'],
  ['/history/identity-link-log?type=candidate'],
  ['/history/task?unfinished=true'],
  ['/authorization'],
]

function sameTypes(t: Test, ours: unknown, real: unknown): void {
  const [mine, its] = [typesOf(ours, outputName), typesOf(real, outputName)]
  t.same(comparable(mine, its), comparable(its, mine))
}

const evaluate = '/decision-definition/key/discount/evaluate'

const sameAsks = [
  ['GET', '/process-definition/key/review'],
  ['GET', '/process-definition/key/review/rendered-form'],
  ['GET', '/process-definition/key/tenantReview/tenant-id/acme/rendered-form'],
  ['GET', '/decision-definition/key/discount'],
  ['POST', evaluate, { variables: { amount: { value: 99, type: 'Integer' } } }],
  ['POST', evaluate, { variables: { amount: { value: 100, type: 'Integer' } } }],
  ['POST', evaluate, { variables: {} }],
  ['POST', '/process-definition/key/review/submit-form', { businessKey: 'same', variables: {} }],
  ['GET', '/task?processInstanceBusinessKey=same'],
  [
    'POST',
    '/process-definition/key/review/submit-form',
    { variables: { amount: { value: 0, type: 'Long' } } },
  ],
  ['POST', '/process-definition/key/catching/start', { businessKey: 'same' }],
  ['POST', '/process-definition/key/external/start', { businessKey: 'same' }],
  ['POST', '/signal', { name: 'stopAll' }],
  ['GET', '/event-subscription?eventType=signal'],
  ['GET', '/external-task/topic-names'],
] as const

/** Returns the header names without date and connection, which belong to the server. */
function headersOf({ headers }: Answer): string[] {
  return [...headers.keys()].filter((name) => !['date', 'connection', 'keep-alive'].includes(name))
}

/** Replaces the name of a decision's output, because the two decisions have different names. */
function outputName(name: string): string {
  return name === 'discount' || name === 'percent' ? '<output>' : name
}

type Types = Readonly<Record<string, string>>

/** Returns the types, except at places where the other side has only null. */
function comparable(types: Types, other: Types): Types {
  return Object.fromEntries(
    Object.entries(types).map(([place, type]) => [place, other[place] === '' ? '' : type]),
  )
}

async function deployFrom(sandbox: Sandbox, base: string): Promise<void> {
  const paths = ['review', 'catching', 'external'].map((key) => [
    `${key}.bpmn`,
    `/process-definition/key/${key}/xml`,
  ])
  await deploy(sandbox, base, [...paths, ['discount.dmn', '/decision-definition/key/discount/xml']])
  const tenantPath = '/process-definition/key/tenantReview/tenant-id/acme/xml'
  await deploy(sandbox, base, [['tenantReview.bpmn', tenantPath]], 'acme')
}

async function deploy(
  sandbox: Sandbox,
  base: string,
  files: readonly (readonly string[])[],
  tenantId?: string,
) {
  const form = new FormData()
  form.append('deployment-name', 'sandbox')
  if (tenantId !== undefined) form.append('tenant-id', tenantId)
  for (const [name = '', path = ''] of files) {
    const { body } = await exchange(sandbox.base, { method: 'GET', path })
    form.append(name, new Blob([xmlOf(body)]), name)
  }
  const answer = await exchange(base, { method: 'POST', path: '/deployment/create', body: form })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
}

function xmlOf(body: unknown): string {
  const members = typeof body === 'object' && body !== null ? Object.entries(body) : []
  const xml = members.find(([name]) => name.endsWith('Xml'))
  return String(xml?.[1])
}
