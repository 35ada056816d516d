import { performance } from 'node:perf_hooks'
import t from 'tap'
import { adminAddressesOf, askAdmin, nameOfAdmin } from '../../src/cli/ask-admin.ts'
import { loadConfig } from '../../src/config/config.ts'
import { ADMIN_ROUTES } from '../../src/server/admin-routes.ts'
import { startNode } from '../support/fake-engine.ts'
import { freePort } from '../support/free-port.ts'
import { startReloadable } from '../support/reloadable.ts'
import { runInProcess } from '../support/run-command.ts'

const node = await startNode(t, (_request, response) => response.end('{}'))
const settings = {
  engines: {
    default: {
      nodes: ['old', 'new', 'newer'].map((name) => ({
        url: `${node.url}/${name}`,
        group: name === 'old' ? 'old' : 'new',
      })),
      shift: { to: 'new', reads: '10%' },
    },
  },
  health: { probe: false },
  admin: { port: 0, hosts: ['gateways.example'] },
}
const [one, other] = [await startReloadable(t, settings), await startReloadable(t, settings)]
const [first, second] = [one.running.adminAddress, other.running.adminAddress]
const run = (admins: readonly string[], ...argv: readonly string[]) =>
  runInProcess([...argv, '--config', one.file, ...admins.flatMap((admin) => ['--admin', admin])])

t.test('a command changes each gateway that is named', async (t) => {
  const { code, out } = await run([first, second], 'move', 'shift', 'reads', '25%')
  const line = 'default: new gets 25% of the reads and 0% of the writes; old gets the rest'
  t.same({ code, out }, { code: 0, out: `${first}: ${line}\n${second}: ${line}\n` })
  const json = await run([first, second, first], 'move', 'status', '--format', 'json')
  t.match(JSON.parse(json.out), [
    { admin: first, reads: 0.25, revision: 1 },
    { admin: second, reads: 0.25, revision: 1 },
  ])
  t.match(await run([first, second], 'purge'), { code: 0, out: /^(http:.* removed from 1 process\n){2}$/ })
  const drained = `${node.url}/new`
  t.match(await run([first, second], 'drain', drained), { code: 0, out: /^(http:.* is drained .*\n){2}$/ })
  for (const { metric } of [one, other])
    t.equal(await metric(`gateway_node_drained{engine="default",node="${drained}"}`), 1)
})

t.test('a gateway that does not respond is named, and the others are changed', async (t) => {
  const away = `http://127.0.0.1:${await freePort()}`
  const { code, out, err } = await run([away, second], 'move', 'back')
  t.equal(code, 2)
  t.match(out, new RegExp(`^${second}: default: new gets 0% of the reads`))
  t.match(err, new RegExp(`^${away}/shift: .*ECONNREFUSED`))
  t.match(JSON.parse((await run([away, second], 'move', 'status', '--format', 'json')).out), [
    { admin: second, reads: 0 },
  ])
  t.match(await run([away, second], 'drain', 'http://nosuch'), {
    code: 2,
    out: '',
    err: /(.*\n){2}/,
  })
})

t.test('purge ends with 1 if Redis did not receive it', async (t) => {
  const alone = await startReloadable(t, { ...settings, cache: { redis: 'redis://127.0.0.1:1' } })
  t.match(await run([alone.running.adminAddress], 'purge'), { code: 1, out: /; Redis is / })
})

t.test('a name with several addresses stands for a gateway at each of them', async (t) => {
  const config = loadConfig(one.file)
  const { port } = new URL(first)
  const admin = [`http://gateways.example:${port}`]
  const namesOf = async (...addresses: readonly string[]) => {
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    return (await adminAddressesOf({ admin }, config, async () => found)).map(nameOfAdmin)
  }
  t.same(await namesOf('10.0.0.1', '10.0.0.2', '2001:db8::1'), [
    `${admin[0]} (10.0.0.1)`,
    `${admin[0]} (10.0.0.2)`,
  ])
  for (const addresses of [['10.0.0.1'], ['127.0.0.1', '::1'], []]) t.same(await namesOf(...addresses), admin)
  const unknown = await adminAddressesOf({ admin }, config, () => Promise.reject(new Error('ENOTFOUND')))
  t.same(unknown.map(nameOfAdmin), admin, 'the request then fails with the reason')
  const [address] = await adminAddressesOf({ admin }, config, async () => [
    { address: '127.0.0.1', family: 4 },
    { address: '127.0.0.2', family: 4 },
  ])
  if (address === undefined) throw new Error('no address')
  const startedAtMs = performance.now()
  t.match(await askAdmin(address, ADMIN_ROUTES.shift, {}), { engine: 'default' })
  t.ok(performance.now() - startedAtMs < 5000)
})
