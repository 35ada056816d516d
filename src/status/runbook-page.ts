import { readFile } from 'node:fs/promises'
import type { AdminPage } from '../metrics/admin-listener.ts'
import { PAGE_STYLE } from './page-style.ts'
import { pageHeaders } from '../request/page-headers.ts'

/** The folder has the same place relative to `src` and to `dist`. */
const RUNBOOKS = new URL('../../docs/runbooks/', import.meta.url)

/** Returns the runbook of an alert as a page. Null if there is no such runbook, or if the installation does not contain it. */
export async function readRunbookPage(alert: unknown): Promise<AdminPage | null> {
  if (typeof alert !== 'string' || !/^Gateway[A-Za-z]{1,60}$/.test(alert)) return null
  const text = await readFile(new URL(`${alert}.md`, RUNBOOKS), 'utf8').catch(() => null)
  return text === null ? null : { html: htmlOf(alert, text), headers: pageHeaders({ style: PAGE_STYLE }) }
}

/** Shows the text as it is, with links to other runbooks. */
function htmlOf(alert: string, text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const linked = escaped.replace(
    /\[(Gateway[A-Za-z]+)\]\(\1\.md(?:#[\w-]+)?\)/g,
    '<a href="runbook?name=$1">$1</a>',
  )
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${alert}</title>
<link rel="icon" href="data:,">
<style>${PAGE_STYLE}</style>
<body>
<header><h1>${alert}</h1><p><a href="status">status page</a></p></header>
<main><section><pre class="runbook">${linked}</pre></section></main>
</body>
</html>
`
}
