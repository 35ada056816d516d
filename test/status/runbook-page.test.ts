import t from 'tap'
import { readRules } from '../release/alerts/rules-file.ts'
import { readRunbookPage } from '../../src/status/runbook-page.ts'

t.test('each alert has a page that loads nothing and runs no script', async (t) => {
  for (const { alert } of readRules()) {
    const page = await readRunbookPage(alert)
    t.match(page?.html, `<h1>${alert}</h1>`)
    t.match(page?.html, '## Mitigation')
    t.notMatch(page?.html, /<script|\ssrc=|<[^>]*\son\w+=/)
    t.match(
      page?.headers['content-security-policy'],
      /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:/,
    )
    t.notMatch(page?.headers['content-security-policy'], /script-src|connect-src/)
  }
})

t.test('markup in a runbook is text, and links to other runbooks are links', async (t) => {
  const { html = '' } = (await readRunbookPage('GatewayBacklog')) ?? {}
  t.match(html, '<a href="runbook?name=GatewayNodeEjected">GatewayNodeEjected</a>')
  t.match(html, '&amp;&amp;|2&gt;|%{time_total}'.split('|').at(-1))
  const [, text = ''] = /<pre class="runbook">([\s\S]*)<\/pre>/.exec(html) ?? []
  t.notMatch(text.replace(/<a href="runbook\?name=\w+">|<\/a>/g, ''), /[<>]/)
})

t.test('there is no page for another name', async (t) => {
  for (const name of [
    undefined,
    7,
    '',
    'README',
    '../upgrade',
    'Gateway',
    'GatewayNone',
    'GatewayDown.md',
    'Gateway/../README',
  ])
    t.equal(await readRunbookPage(name), null, String(name))
})
