import type { AdminPage } from '../metrics/admin-listener.ts'
import type { Operation } from '../operations/table.ts'
import { runStatusPage } from './page-script.ts'
import { pageHeaders } from '../request/page-headers.ts'
import { PAGE_STYLE } from './page-style.ts'

/**
 * Creates the page, which is the same for every user and requests all variable data. `operations` are the suggestions for
 * questions about permissions.
 */
export function createStatusPage(operations: readonly Pick<Operation, 'method' | 'template'>[]): AdminPage {
  const script = `(${runStatusPage.toString()})()`
  return {
    html: htmlOf(script, operations),
    headers: pageHeaders({ script, style: PAGE_STYLE }),
  }
}

const TILES = [
  ['ready', 'Gateway'],
  ['configuration', 'Configuration'],
  ['engines-up', 'Engines up'],
  ['nodes-up', 'Healthy nodes'],
  ['requests', 'Requests'],
  ['failed', 'Answered 5xx'],
  ['refused', 'Refused'],
  ['in-flight', 'In flight'],
  ['cache', 'Cache hits'],
  ['redis', 'Redis'],
  ['polls', 'Long polls'],
] as const

const TRAFFIC = ['Requests / s', 'p95', '5xx', 'Refused', 'Since start']
const REFUSED = ['Operation', 'Engine', 'Stage', 'Reason']

/** Builds the page. Its whole content comes from this file or from the table, so nothing needs escaping. */
function htmlOf(script: string, operations: readonly Pick<Operation, 'method' | 'template'>[]): string {
  const tiles = TILES.map(([id, name]) => `<div class="tile"><dt>${name}</dt><dd id="${id}">–</dd></div>`)
  const options = operations.map(({ method, template }) => `<option value="${method} ${template}">`)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>engine-gateway</title>
<link rel="icon" href="data:,">
<style>${PAGE_STYLE}</style>
<body>
<header><h1>engine-gateway</h1><p id="about"></p><p id="stale" role="alert" hidden></p></header>
<main>
<dl class="tiles">${tiles.join('')}</dl>
<section id="outages-section" hidden><h2 class="bad">Requests fail</h2><ul id="outages"></ul></section>
<section id="problems-section" hidden><h2 class="warn">Look at</h2><ul id="problems"></ul></section>
<section><h2>Engines</h2>
<div class="bar"><input id="filter" type="search" placeholder="Name or address" aria-label="Show engines by name or address">
<button id="all" type="button" hidden></button><span id="shown" class="quiet"></span></div>
${tableOf('engines', ['Engine', 'Health'], ['In flight', 'Latency', 'Ejections', 'Certificate ends'])}</section>
<section id="groups-section" hidden><h2>Groups of nodes</h2>
${tableOf('groups', ['Engine', 'State'], ['Reads', 'Writes', 'Compared', 'Different'])}
<div id="differences-section" hidden><p class="quiet">The newest differences between the responses of the groups.</p>
${tableOf('differences', ['Operation', 'Engine', 'Member', 'Old', 'New', 'Times', 'Last found'], [])}</div></section>
<section><h2>Traffic by engine</h2><p id="window" class="quiet"></p>
${tableOf('traffic', ['Engine'], TRAFFIC)}</section>
<section><h2>Traffic by operation</h2><p id="asked" class="quiet"></p>
${tableOf('operations', ['Operation'], TRAFFIC)}</section>
<section><h2>Outages</h2><p class="quiet">Requests that the gateway or an engine could not process.</p>
<p id="no-failures" class="quiet">None since the start.</p>
${tableOf('failures', REFUSED, ['/ s', 'Since start'])}</section>
<section><h2>Refusals</h2><p class="quiet">Requests that were refused because of their content, their caller or a rate limit.</p>
<p id="no-refusals" class="quiet">None since the start.</p>
${tableOf('refusals', REFUSED, ['/ s', 'Since start'])}</section>
<section id="reported-section" hidden><h2>Not enforced</h2>
<p class="quiet">Requests that the mode enforce would refuse. They were not refused.</p>
${tableOf('reported', REFUSED, ['/ s', 'Since start'])}</section>
<section><h2>Configuration</h2><p id="reload" class="quiet"></p><ul id="reload-problems" class="bad"></ul></section>
<section><h2>Who may do what</h2>
<p id="no-ask" class="quiet" hidden>Set admin.token or admin.tokens to ask here. Without a token, the gateway cannot identify its callers.</p>
<form id="ask" hidden>
<label>User<input id="user" required autocomplete="off" spellcheck="false"></label>
<label>Engine<select id="engine"></select></label>
<label class="wide">Request<input id="request" required list="offers" placeholder="GET /task" autocomplete="off" spellcheck="false"></label>
<datalist id="offers">${options.join('')}</datalist>
<label class="wide">Body<textarea id="body" spellcheck="false"></textarea></label>
<p><button id="send" class="main">May they?</button></p>
</form>
<p id="decision" role="status"></p><pre id="explanation"></pre></section>
</main>
<script>${script}</script>
</body>
</html>
`
}

function tableOf(id: string, texts: readonly string[], numbers: readonly string[]): string {
  const heads = [
    ...texts.map((name) => `<th scope="col">${name}</th>`),
    ...numbers.map((name) => `<th scope="col" class="number">${name}</th>`),
  ]
  return `<table id="${id}"><thead><tr>${heads.join('')}</tr></thead><tbody></tbody></table>`
}
