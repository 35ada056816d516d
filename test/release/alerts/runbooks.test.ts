import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { describeMetrics } from '../../../docs/generate-metrics.ts'
import { problemsIn, settingsWith } from '../../support/config-file.ts'
import { readPage, RUNBOOKS } from './page.ts'
import { readRules } from './rules-file.ts'

const rules = readRules()
const index = readFileSync(join(RUNBOOKS, 'README.md'), 'utf8')
const VARIABLES = [...index.matchAll(/`([A-Z_]+)`/g)].map(([, name = '']) => name)

t.test('every alert has a runbook, and every runbook has an alert', (t) => {
  const pages = globSync('*.md', { cwd: RUNBOOKS }).filter((page) => page !== 'README.md')
  t.same(pages.toSorted(), rules.map(({ alert }) => `${alert}.md`).toSorted())
  for (const { alert, annotations, labels } of rules) {
    t.equal(basename(annotations.runbook_url), `${alert}.md`)
    t.match(index, `| [${alert}](${alert}.md) | ${labels.severity} |`)
  }
  t.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
  t.equal(new Set(rules.map(({ annotations }) => annotations.runbook_url.replace(/[^/]+$/, ''))).size, 1)
  t.end()
})

for (const { alert } of rules) {
  t.test(`${alert}: the runbook has all four sections, with valid commands`, async (t) => {
    const { title, sections, text } = readPage(alert)
    t.equal(title, alert)
    t.same([...sections.keys()], ['Meaning', 'Impact', 'Diagnosis', 'Mitigation'])
    const names = (await describeMetrics()).map(({ name }) => name)
    const told = [...text.matchAll(/\b(?:gateway|http_server|http_client|nodejs|process)_[a-z_]+[a-z]\b/g)]
    const known = names.flatMap((name) => [name, `${name}_sum`, `${name}_count`])
    t.same(
      told.map(([name]) => name).filter((name) => !known.some((one) => one.startsWith(name))),
      [],
      'metrics',
    )
    for (const heading of ['Diagnosis', 'Mitigation']) {
      const blocks = sections.get(heading) ?? []
      const commands = blocks.filter(({ language }) => language === 'sh')
      t.ok(commands.length > 0, `${heading} has commands`)
      for (const { text: command } of commands) {
        execFileSync('bash', ['-n'], { input: command })
        const used = [...command.matchAll(/\$([A-Z_]+)/g)].map(([, name = '']) => name)
        t.same(
          used.filter((name) => !VARIABLES.includes(name)),
          [],
          'variables',
        )
      }
      for (const { text: yaml } of blocks.filter(({ language }) => language === 'yaml'))
        t.same(problemsIn(t, settingsWith(parse(yaml))), [], yaml)
    }
  })
}
