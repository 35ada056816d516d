import t, { type Test } from 'tap'
import { RESOURCES } from '../../src/operations/permissions.ts'
import { isRecord } from '../../src/request/value.ts'
import { javaSkip } from '../support/requirements.ts'
import { engineSources, startGateway } from '../support/running-gateway.ts'
import { startEngine } from './engine.ts'
import { type Ask, exchange } from './exchange.ts'

type AskAs = (user: string, ask: Ask) => ReturnType<typeof exchange>

const TENANTS = ['acme', 'globex']

/** The tenants of each user. `none`, `one` and `all` may delete every definition; `reader` may only read and update them. */
const USERS: Readonly<Record<string, readonly string[]>> = {
  none: [],
  one: ['acme'],
  all: TENANTS,
  reader: ['acme'],
}

/**
 * Tenants of the versions of a key, in the order of deployment. If two versions have the same number, the engine's
 * order between them is not specified. In this case every caller is a member of both tenants or of neither.
 */
const DEPLOYED: readonly (readonly (string | null)[])[] = [
  [null, null],
  ['acme', 'acme', null],
  ['globex', 'acme', 'acme'],
  ['acme', 'globex', 'globex'],
  ['acme', 'acme', 'acme', 'globex', 'globex', null],
]

const QUERIES = [
  '',
  '?cascade=true',
  '?cascade=true&skipCustomListeners=true&skipIoMappings=true',
  '?cascade=no',
]

const basic = (user: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}`,
})

function modelOf(key: string, version: number): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:camunda="http://camunda.org/schema/1.0/bpmn" targetNamespace="test">
<process id="${key}" name="version ${version}" isExecutable="true" camunda:historyTimeToLive="1">
<startEvent id="start"/><sequenceFlow id="flow" sourceRef="start" targetRef="end"/><endEvent id="end"/>
</process></definitions>`
}

/** One of the two sides that are compared: a secured engine, or the gateway in front of an engine without authorization. */
class Side {
  readonly #ask: AskAs
  readonly #names = new Map<string, string>()

  constructor(ask: AskAs) {
    this.#ask = ask
  }

  async call(method: Ask['method'], path: string, body?: unknown): Promise<unknown> {
    const { status, body: said } = await this.#ask('demo', { method, path, body })
    if (status < 300) return said
    throw new Error(`${method} ${path}: ${status} ${JSON.stringify(said)}`)
  }

  async prepare(): Promise<void> {
    for (const id of Object.keys(USERS)) {
      const profile = { id, firstName: id, lastName: id, email: `${id}@localhost` }
      await this.call('POST', '/user/create', { profile, credentials: { password: id } })
    }
    for (const id of TENANTS) await this.call('POST', '/tenant/create', { id, name: id })
    for (const [user, tenants] of Object.entries(USERS)) {
      for (const tenant of tenants) await this.call('PUT', `/tenant/${tenant}/user-members/${user}`)
      await this.call('POST', '/authorization/create', {
        type: 1,
        permissions: user === 'reader' ? ['READ', 'UPDATE'] : ['DELETE'],
        userId: user,
        groupId: null,
        resourceType: RESOURCES.PROCESS_DEFINITION.id,
        resourceId: '*',
      })
    }
  }

  async deploy(key: string, tenants: readonly (string | null)[]): Promise<void> {
    for (const [at, tenant] of tenants.entries()) {
      const form = new FormData()
      form.append('deployment-name', `${key} ${at}`)
      if (tenant !== null) form.append('tenant-id', tenant)
      form.append('model.bpmn', new Blob([modelOf(key, at)]), 'model.bpmn')
      await this.call('POST', '/deployment/create', form)
    }
    for (const { id, name } of await this.#versionsOf(key)) this.#names.set(id, name)
  }

  /** Returns the remaining versions of a key. */
  async leftOf(key: string): Promise<readonly string[]> {
    return (await this.#versionsOf(key)).map(({ name }) => name).toSorted()
  }

  async remove(user: string, path: string) {
    const { status, body } = await this.#ask(user, { method: 'DELETE', path })
    let text = JSON.stringify(body)
    for (const [id, name] of this.#names) text = text.replaceAll(id, name)
    return { status, text }
  }

  async #versionsOf(key: string) {
    const rows = await this.call('GET', `/process-definition?key=${key}`)
    return (Array.isArray(rows) ? rows.filter(isRecord) : []).map(({ id, version, tenantId }) => ({
      id: String(id),
      name: `version ${String(version)} of ${String(tenantId)}`,
    }))
  }
}

async function sidesOf(t: Test): Promise<readonly [secured: Side, gateway: Side]> {
  const [secured, bare] = [await startEngine({ secured: true }), await startEngine()]
  t.teardown(() => Promise.all([secured.stop(), bare.stop()]))
  const settings = engineSources(bare.base, { identity: { remember: '1h' }, log: { audit: 'off' } })
  const gateway = await startGateway(t, settings)
  const sides = [
    new Side((user, ask) => exchange(secured.base, ask, basic(user))),
    new Side((user, { method, path, body }) => gateway.ask(`${user}:${user}`, method, path, body)),
  ] as const
  for (const side of sides) await side.prepare()
  return sides
}

t.test('a delete by key has the effects of the engine', { skip: javaSkip, timeout: 600_000 }, async (t) => {
  const [secured, gateway] = await sidesOf(t)
  const statuses = new Set<number>()
  let keys = 0
  const deployBoth = async (tenants: readonly (string | null)[]) => {
    keys += 1
    for (const side of [secured, gateway]) await side.deploy(`key${keys}`, tenants)
    return `key${keys}`
  }
  const compare = async (pathOf: (key: string) => string, tenants: readonly (string | null)[]) => {
    let key = await deployBoth(tenants)
    for (const user of Object.keys(USERS)) {
      const name = `${user} ${pathOf('KEY')}, versions of ${tenants.join(', ')}`
      const direct = await secured.remove(user, pathOf(key))
      t.same(await gateway.remove(user, pathOf(key)), direct, name)
      const left = await secured.leftOf(key)
      t.same(await gateway.leftOf(key), left, `${name}: what is left`)
      if (direct.status === 204) key = await deployBoth(tenants)
      else t.equal(left.length, tenants.length, `${name}: nothing is deleted`)
      statuses.add(direct.status)
    }
  }
  for (const [at, tenants] of DEPLOYED.entries()) {
    const query = QUERIES[at % QUERIES.length] ?? ''
    await compare((key) => `/process-definition/key/${key}/delete${query}`, tenants)
    await compare((key) => `/process-definition/key/${key}/tenant-id/acme/delete${query}`, tenants)
  }
  await compare((key) => `/process-definition/key/${key}/tenant-id/globex/delete`, ['acme', 'globex'])
  await compare((key) => `/process-definition/key/${key}/tenant-id/acme%2Cglobex/delete`, ['acme', 'globex'])
  await compare((key) => `/process-definition/key/${key}x/delete`, [null])
  t.same(statuses, new Set([204, 403, 404, 500]), 'every kind of response was compared')
})
