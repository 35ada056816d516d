import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { z } from 'zod'
import { build } from '../../src/assembly/build.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createLogger } from '../../src/log.ts'
import type { EngineDependencies } from '../../src/pipeline/dependencies.ts'
import type { Principal } from '../../src/request/principal.ts'
import { canonicalOf } from '../../src/request/canonical.ts'
import { decideAny } from '../../src/policy/authz/decision/decide.ts'
import { OPERATIONS } from '../../src/operations/all.ts'
import {
  publishedOperation,
  publishedSchema,
  type PublishedType,
} from '../../src/operations/published/facts.ts'
import { checkShape } from '../../src/policy/validation/validate.ts'
import { type AuditSettings, auditsOf } from '../../src/pipeline/audit.ts'
import { receive, setPrincipal, setRoute } from '../../src/pipeline/context.ts'
import type { DecisionTrace } from '../../src/policy/authz/checks/decision-trace.ts'
import { readJson } from '../../src/request/json.ts'
import { indexRecords } from '../../src/policy/authz/records/records.ts'
import { type AuthorizationRecord } from '../../src/operations/authorization-record.ts'
import { OWN, type Part, type Row, sampleOf } from '../part.ts'
import { runAlone } from '../run-part.ts'
import { AUTHORIZATION, QUERY_BODY, START_BODY } from '../scenario.ts'
import { writeSettings } from '../servers/gateway.ts'

const ROUNDS = 25
const CALLS_PER_ROUND = 10_000

/** The number of first rounds that are ignored, because the compiler is still at work. */
const WARM_UP = 5

interface Step {
  readonly name: string
  readonly call: () => unknown
}

/** Returns a row for each step with the time of one call. The rounds of the steps alternate. */
async function measure(steps: readonly Step[]): Promise<readonly Row[]> {
  const rounds = steps.map((): number[] => [])
  const { foreign } = await sampleOf(async () => {
    for (let round = 0; round < ROUNDS; round += 1)
      for (const [index, { call }] of steps.entries()) {
        const startedAtNs = process.hrtime.bigint()
        for (let calls = 0; calls < CALLS_PER_ROUND; calls += 1) call()
        rounds[index]?.push(Number(process.hrtime.bigint() - startedAtNs) / CALLS_PER_ROUND)
      }
    return {}
  })
  return steps.map(({ name }, index) => ({
    case: name,
    server: OWN,
    samples: (rounds[index] ?? []).slice(WARM_UP).map((ns) => ({ values: { ns }, foreign })),
  }))
}

/** Returns grants on single process definitions to fifty users and fifty groups. */
function recordsOf(count: number): readonly AuthorizationRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    type: 1,
    ...(index % 2 === 0 ? { groupId: `group-${index % 100}` } : { userId: `user-${index % 100}` }),
    resourceType: 6,
    resourceId: `definition-${index}`,
    permissions: ['READ', 'CREATE_INSTANCE'],
  }))
}

function decisionStep(count: number): Step {
  const records = indexRecords(recordsOf(count))
  const principal = { userId: 'user-1', groups: ['group-0', 'group-2', 'group-4'], tenants: [] }
  // With 10 records, the last group of the caller has the grant. With 100,000, no group has it. Every group is checked in both cases.
  const check = { resource: 'PROCESS_DEFINITION', permission: 'READ', id: `definition-${count - 6}` } as const
  return { name: `decision, ${count} records`, call: () => decideAny(records, principal, [check]) }
}

/** Returns null if the permission needs a lookup at the engine. */
async function permitStep(
  { permits }: EngineDependencies,
  principal: Principal,
  { id, key }: { readonly id: string; readonly key: string },
): Promise<Step | null> {
  const permit = permits.get(id)
  const asked = { principal, params: { key }, query: new Map<string, string>(), body: undefined }
  const decision = permit?.authorize(asked)
  if (!(decision instanceof Promise)) return { name: `permit ${id}`, call: () => permit?.authorize(asked) }
  await decision.catch(() => undefined)
  return null
}

/** Measures the decision with the reasons for the audit line (`audit.reasons`). */
function reasonsStep({ permits, groundsOf }: EngineDependencies, principal: Principal): Step {
  const permit = permits.get('getProcessDefinitionByKey')
  const asked = { principal, params: { key: 'invoice' }, query: new Map<string, string>(), body: undefined }
  return {
    name: 'permit getProcessDefinitionByKey, with reasons',
    call: () => {
      const seen: DecisionTrace[] = []
      void permit?.authorize(asked, (one) => {
        seen.push(one)
        return one.decision
      })
      return groundsOf(seen, asked)
    },
  }
}

/** Measures the choice of audit lines for a request. */
function auditStep(
  engine: EngineDependencies,
  principal: Principal,
  { id, settings }: { readonly id: string; readonly settings: AuditSettings },
): Step {
  const operation = OPERATIONS.find((one) => one.id === id) ?? null
  const context = receive('a-request', '127.0.0.1')
  setRoute(context, { engineName: 'default', isEngineNamed: false, engine, operation })
  setPrincipal(context, principal)
  const request = {
    context,
    raw: new IncomingMessage(new Socket()),
    host: '',
    routeOptions: { url: '/', config: {}, bodyLimit: 0 },
    method: operation?.method ?? 'GET',
    headers: {},
    url: '/',
    originalUrl: '/',
    params: { key: 'invoice' },
  }
  const end = { status: 200, durationMs: 1, traceId: null, comparison: null }
  return { name: `audit lines of ${id}`, call: () => auditsOf(request, end, settings) }
}

/** Validates the same task query by the published types, and with a schema of zod that has the same members and types and accepts others. */
function validationSteps(): readonly Step[] {
  const operation = OPERATIONS.find(({ id }) => id === VALIDATED)
  const body = publishedOperation(VALIDATED)?.body ?? null
  if (operation === undefined || body === null) throw new Error(`${VALIDATED} has no published body`)
  const received = { params: {}, query: new Map<string, string>(), body: readJson(Buffer.from(QUERY_BODY)) }
  const schema = zodTypeOf(body)
  const parsed: unknown = JSON.parse(QUERY_BODY)
  return [
    { name: 'validate a task query', call: () => checkShape(operation, received) },
    { name: 'validate a task query, with zod', call: () => schema.parse(parsed) },
  ]
}

const VALIDATED = 'queryTasks'

/** Returns the schema of a published type. The engine accepts null for each member. Two levels of schemas are enough for the query. */
function zodTypeOf(type: PublishedType, levels = 2): z.ZodType {
  if (type.kind === 'list') return z.array(zodTypeOf(type.items, levels))
  if (type.kind === 'schema' && levels > 0) return zodObjectOf(type.name, levels - 1)
  if (type.kind === 'string') return z.string()
  if (type.kind === 'integer') return z.int()
  if (type.kind === 'number') return z.number()
  return type.kind === 'boolean' ? z.boolean() : z.unknown()
}

function zodObjectOf(name: string, levels: number): z.ZodType {
  const members = [...publishedSchema(name)].map(([member, { type }]) => [
    member,
    zodTypeOf(type, levels).nullish(),
  ])
  return z.looseObject(Object.fromEntries(members))
}

function requestStep(): Step {
  const request = new IncomingMessage(new Socket())
  request.method = 'GET'
  request.url = '/engine-rest/process-definition/key/invoice?a=b'
  request.httpVersion = '1.1'
  request.rawHeaders = [
    'Host',
    '127.0.0.1:8080',
    'Authorization',
    AUTHORIZATION,
    'Accept',
    'application/json',
  ]
  const served = { hosts: new Set<string>(), allowedOrigins: new Set<string>() }
  return { name: 'canonicalOf', call: () => canonicalOf(request, served) }
}

async function measureSteps(directory: string): Promise<readonly Row[]> {
  const { file } = await writeSettings({ directory, nodes: ['http://127.0.0.1:9/engine-rest'] })
  const log = createLogger({ level: 'silent' })
  const config = loadConfig(file)
  const { gateway: dependencies, close } = await build({ config, log, version: 'bench' })
  const engine = dependencies.engines.get('default')
  if (engine === undefined) throw new Error('The bench configures the engine default')
  const { authenticate } = engine.authenticator
  const principal = await authenticate(AUTHORIZATION, '127.0.0.1')
  const body = Buffer.from(START_BODY)
  const permits = [
    await permitStep(engine, principal, { id: 'getProcessDefinitionByKey', key: 'invoice' }),
    await permitStep(engine, principal, { id: 'getDecisionDefinitionDiagramByKey', key: 'dish' }),
  ]
  const rows = await measure([
    decisionStep(10),
    decisionStep(100_000),
    ...permits.filter((step) => step !== null),
    { name: 'remembered credential', call: () => authenticate(AUTHORIZATION, '127.0.0.1') },
    // The reasons are collected from the same checks.
    ...(permits[0] === null ? [] : [reasonsStep(engine, principal)]),
    auditStep(engine, principal, { id: 'getProcessDefinitionByKey', settings: config.audit }),
    auditStep(engine, principal, { id: 'startProcessInstanceByKey', settings: config.audit }),
    requestStep(),
    { name: `readJson, ${body.length} bytes`, call: () => readJson(body) },
    ...validationSteps(),
  ])
  await close()
  return rows
}

/** The time of single steps. */
export const decision: Part = {
  name: 'decision',
  title: 'Steps of a request',
  measures:
    'Single steps of a request in one process and without a socket. The steps run in hot loops, so the results are lower bounds. A permission ' +
    'that needs a lookup at the engine is left out.',
  columns: [{ key: 'ns', title: 'time of a call', unit: 'ns' }],
  isLeftOutOfQuick: true,
  run: ({ directory }) => measureSteps(directory),
}

if (import.meta.main) await runAlone(decision)
