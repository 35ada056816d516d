import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { startNode } from '../../support/fake-engine.ts'
import { BASE } from '../../support/open-gateway.ts'
import { startReloadable } from '../../support/reloadable.ts'

const node = await startNode(t)
const engines = { default: { nodes: [node.url + BASE] } }
const records = { source: 'file', file: 'records.yaml' }
const health = { probe: false }

type Gateway = Awaited<ReturnType<typeof startReloadable>>

function warned(gateway: Gateway): readonly unknown[] {
  return gateway.log.filter(({ level }) => level === 'warn').map(({ msg }) => msg)
}

async function verboseOf({ running }: Gateway): Promise<string> {
  return (await fetch(`${running.adminAddress}/readyz?verbose`)).text()
}

const modeMetric = (section: string, mode: string) =>
  `gateway_mode{engine="default",section="${section}",mode="${mode}"}`

t.test(
  'a mode that refuses nothing causes a warning at start and reload, and is shown as long as it is active',
  async (t) => {
    const open = { engines, health, authorization: { mode: 'report', records }, validation: { mode: 'off' } }
    const gateway = await startReloadable(t, open)
    t.match(warned(gateway), [/^authorization\.mode: report refuses/, /^validation\.mode: off checks/])
    const verbose = await verboseOf(gateway)
    t.match(verbose, '[-] authorization of default: mode is report: nothing is refused\n')
    t.match(verbose, '[-] validation of default: mode is off: nothing is refused\n')
    t.match(verbose, /\nok\n$/, 'it serves')
    t.equal(await gateway.metric(modeMetric('authorization', 'report')), 1)
    t.equal(await gateway.metric(modeMetric('validation', 'off')), 1)
    await gateway.reload({ engines, health })
    t.equal(warned(gateway).length, 2)
    t.match(await verboseOf(gateway), '[+] authorization of default: ok\n[+] validation of default: ok\n')
    t.equal(await gateway.metric(modeMetric('authorization', 'report')), null)
    t.equal(await gateway.metric(modeMetric('authorization', 'enforce')), 1)
    await gateway.reload(open)
    t.match(warned(gateway).slice(2), [
      /^authorization\.mode: report refuses/,
      /^validation\.mode: off checks/,
    ])
  },
)

t.test(
  'an administrator without a record causes a warning, because the group alone grants nothing',
  async (t) => {
    const gateway = await startReloadable(t, { engines, health })
    t.same(warned(gateway), [])
    const file = join(dirname(gateway.file), 'records.yaml')
    const all = readFileSync(file, 'utf8')
    writeFileSync(file, 'authorizations: []')
    const { status } = await gateway.reload({ engines, health, log: { level: 'warn' } })
    t.equal(status, 200)
    t.match(warned(gateway), [
      /^authorization\.records: no authorization record names these administrators or one of their groups: demo \(admin groups: camunda-admin\)/,
    ])
    writeFileSync(file, all)
    await gateway.reload({ engines, health })
    t.equal(warned(gateway).length, 1)
  },
)
