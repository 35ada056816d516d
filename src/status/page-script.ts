/* oxlint-disable unicorn/consistent-function-scoping -- a browser receives the text of the one function here, and nothing outside it */
import type { EngineStatus } from './process-status.ts'
import type { Status } from './status.ts'

/**
 * Runs in the browser: requests the status every five seconds while the page is visible, and shows it. Names of users, nodes and
 * engines are always inserted as text, never as markup.
 *
 * The page contains the text of this function, so it uses nothing from outside except types.
 */
export function runStatusPage(): void {
  const REFRESH_MS = 5000
  const PATIENCE_MS = 10_000
  /** Rates cover about the last minute. */
  const SAMPLES = 12
  const FEW = 25
  const DAY_MS = 86_400_000

  type Tone = '' | 'good' | 'warn' | 'bad' | 'quiet'
  type Cell = readonly [text: string, kind?: string, small?: string]
  interface TableLine {
    readonly kind: string
    readonly cells: readonly Cell[]
  }
  interface TrafficTotals {
    readonly requests: number
    readonly failed: number
    readonly refused: number
    readonly durations: readonly number[]
  }

  const samples: Status[] = []
  /** The content of rows and lists, so that a refresh updates only those that change. */
  const written = new WeakMap<Element, string>()
  const order = new Intl.Collator('en', { numeric: true })
  let timer: number | undefined
  let isAsking = false
  let isAll = false

  function byId(id: string): HTMLElement {
    const found = document.getElementById(id)
    if (found === null) throw new Error(`The page has no ${id}`)
    return found
  }

  function field(id: string): HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement {
    const found = byId(id)
    if (
      found instanceof HTMLInputElement ||
      found instanceof HTMLTextAreaElement ||
      found instanceof HTMLSelectElement
    )
      return found
    throw new Error(`${id} is no field`)
  }

  /** Updates only properties that differ. */
  function say(element: Element, text: string, kind = element.className): void {
    if (element.textContent !== text) element.textContent = text
    if (element.className !== kind) element.className = kind
  }

  function show(id: string, isShown: boolean): void {
    byId(id).hidden = !isShown
  }

  function resize(parent: Element, tag: string, size: number): void {
    while (parent.children.length > size) parent.lastElementChild?.remove()
    while (parent.children.length < size) parent.append(document.createElement(tag))
  }

  function fillTable(id: string, lines: readonly TableLine[]): void {
    const table = byId(id)
    const [body] = table.getElementsByTagName('tbody')
    if (body === undefined) return
    const labels = [...table.getElementsByTagName('th')].map(({ textContent }) => textContent ?? '')
    resize(body, 'tr', lines.length)
    for (const [at, { kind, cells }] of lines.entries()) {
      const row = body.children[at]
      if (row === undefined || isWritten(row, `${kind}\n${cells.join('\n')}`)) continue
      if (row.className !== kind) row.className = kind
      resize(row, 'td', cells.length)
      for (const [index, cell] of cells.entries())
        fillCell(row.children[index], cell, index === 0 ? '' : (labels[index] ?? ''))
    }
  }

  function isWritten(element: Element, text: string): boolean {
    const isSame = written.get(element) === text
    written.set(element, text)
    return isSame
  }

  function fillCell(element: Element | undefined, [text, kind = '', small = '']: Cell, label: string): void {
    if (element === undefined) return
    if (label !== '' && element.getAttribute('data-label') !== label)
      element.setAttribute('data-label', label)
    const [first, second] = element.children
    if (small === '' && first === undefined) return say(element, text, kind)
    if (first === undefined || second === undefined) {
      element.replaceChildren(document.createElement('span'), document.createElement('small'))
      return fillCell(element, [text, kind, small], label)
    }
    if (element.className !== kind) element.className = kind
    say(first, text)
    say(second, small)
  }

  function fillList(id: string, texts: readonly string[]): void {
    const list = byId(id)
    resize(list, 'li', texts.length)
    for (const [at, text] of texts.entries()) {
      const item = list.children[at]
      if (item !== undefined) say(item, text)
    }
  }

  /** Each item has the text, since when the problem exists, and a link to the runbook. The link is relative and has no other parts. */
  function fillProblems(id: string, problems: Status['problems'], nowMs: number): void {
    const list = byId(id)
    resize(list, 'li', problems.length)
    for (const [at, { text, sinceMs, runbook }] of problems.entries()) {
      const item = list.children[at]
      if (item === undefined || isWritten(item, `${text} ${sinceMs} ${runbook}`)) continue
      const words = document.createElement('span')
      const when = document.createElement('time')
      say(words, text)
      item.replaceChildren(words, when)
      if (runbook === null) continue
      const link = document.createElement('a')
      link.href = `runbook?name=${encodeURIComponent(runbook)}`
      say(link, 'runbook')
      item.append(link)
    }
    for (const [at, { sinceMs }] of problems.entries()) {
      const [when] = list.children[at]?.getElementsByTagName('time') ?? []
      if (when === undefined) continue
      say(when, `since ${time(sinceMs)} (${since(nowMs - sinceMs)})`)
      when.dateTime = new Date(sinceMs).toISOString()
    }
  }

  function tile(id: string, text: string, tone: Tone = ''): void {
    const value = byId(id)
    say(value, text)
    const kind = `tile ${tone}`.trim()
    if (value.parentElement !== null && value.parentElement.className !== kind)
      value.parentElement.className = kind
  }

  function sum(numbers: readonly number[]): number {
    return numbers.reduce((total, number) => total + number, 0)
  }

  function count(number: number): string {
    return number.toLocaleString('en')
  }

  function rate(perSecond: number): string {
    return perSecond >= 10 || perSecond === 0 ? count(Math.round(perSecond)) : perSecond.toFixed(1)
  }

  function duration(ms: number): string {
    if (ms < 1) return '< 1 ms'
    return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
  }

  function time(ms: number): string {
    return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`
  }

  function since(ms: number): string {
    const seconds = Math.max(0, Math.round(ms / 1000))
    if (seconds < 120) return `${seconds} s`
    if (seconds < 7200) return `${Math.round(seconds / 60)} min`
    return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`
  }

  type Name = 'operation' | 'engine'

  function totalsOf({ traffic }: Status, name: Name): Map<string, TrafficTotals> {
    const rows = name === 'engine' ? traffic.engines : traffic.operations
    return new Map(
      rows.map((row) => {
        const { failed, refused, durations } = row
        const label = 'engine' in row ? row.engine : row.operation
        return [label, { requests: sum(durations), failed, refused, durations }]
      }),
    )
  }

  /**
   * Returns the counts since the oldest sample, or since the start if there is only one sample. A count that has decreased was
   * reset, and gives 0.
   */
  function minus(now: TrafficTotals, before: TrafficTotals | undefined): TrafficTotals {
    if (before === undefined) return now
    return {
      requests: Math.max(0, now.requests - before.requests),
      failed: Math.max(0, now.failed - before.failed),
      refused: Math.max(0, now.refused - before.refused),
      durations: now.durations.map((number, at) => Math.max(0, number - (before.durations[at] ?? 0))),
    }
  }

  /** Returns the upper bound of the bucket that contains the 95th percentile. */
  function p95(durations: readonly number[], bounds: readonly number[]): string {
    const all = sum(durations)
    if (all === 0) return '–'
    let seen = 0
    const at = durations.findIndex((number) => (seen += number) >= all * 0.95)
    const bound = bounds[at]
    const last = bounds[bounds.length - 1] ?? 0
    return bound === undefined ? `> ${duration(last * 1000)}` : `≤ ${duration(bound * 1000)}`
  }

  function windowOf(now: Status): { readonly before: Status | null; readonly seconds: number } {
    const [oldest] = samples
    if (oldest === undefined || oldest === now || oldest.startedAtMs + 2000 < now.startedAtMs)
      return { before: null, seconds: Math.max(1, (now.nowMs - now.startedAtMs) / 1000) }
    return { before: oldest, seconds: Math.max(1, (now.nowMs - oldest.nowMs) / 1000) }
  }

  interface TrafficRow {
    readonly name: string
    readonly totals: TrafficTotals
    readonly recent: TrafficTotals
  }

  /** Returns the totals and the recent counts, those with the most requests first. */
  function trafficRows(status: Status, before: Status | null, name: Name): readonly TrafficRow[] {
    const earlier = before === null ? null : totalsOf(before, name)
    const rows = [...totalsOf(status, name)].map(([label, totals]) => ({
      name: label,
      totals,
      recent: earlier === null ? totals : minus(totals, earlier.get(label) ?? zeroOf(totals)),
    }))
    return rows.sort(
      (one, other) =>
        other.recent.requests - one.recent.requests ||
        other.totals.requests - one.totals.requests ||
        order.compare(one.name, other.name),
    )
  }

  function fillTraffic(
    id: string,
    rows: readonly TrafficRow[],
    { status, seconds, none }: TrafficView,
  ): void {
    fillTable(
      id,
      rows.slice(0, FEW).map(({ name, totals, recent }) => ({
        kind: '',
        cells: [
          [name === '' ? none : name],
          [rate(recent.requests / seconds), 'number'],
          [p95(recent.durations, status.traffic.boundSeconds), 'number'],
          [count(recent.failed), recent.failed > 0 ? 'number bad' : 'number'],
          [count(recent.refused), 'number'],
          [count(totals.requests), 'number'],
        ],
      })),
    )
  }

  interface TrafficView {
    readonly status: Status
    readonly seconds: number
    /** Shown instead of an empty name. */
    readonly none: string
  }

  function showTraffic(status: Status): void {
    const { before, seconds } = windowOf(status)
    const engines = trafficRows(status, before, 'engine')
    const operations = trafficRows(status, before, 'operation')
    const what = before === null ? 'since the start' : `in the last ${since(seconds * 1000)}`
    say(byId('window'), `Rates and durations ${what}.`)
    say(byId('asked'), `${operations.length} operations since the start.`)
    fillTraffic('traffic', engines, { status, seconds, none: '(no engine)' })
    fillTraffic('operations', operations, { status, seconds, none: '(no operation)' })
    const total = (read: (recent: TrafficTotals) => number): number =>
      sum(operations.map(({ recent }) => read(recent)))
    const failed = total((recent) => recent.failed)
    tile('requests', `${rate(total(({ requests }) => requests) / seconds)} / s`)
    tile('failed', `${rate(failed / seconds)} / s`, failed > 0 ? 'bad' : 'good')
    tile('refused', `${rate(total(({ refused }) => refused) / seconds)} / s`)
    tile('in-flight', count(status.traffic.inFlight))
    showRefusals(status, before, seconds)
    showCache(status, before)
  }

  function zeroOf({ durations }: TrafficTotals): TrafficTotals {
    return { requests: 0, failed: 0, refused: 0, durations: durations.map(() => 0) }
  }

  function showRefusals(status: Status, before: Status | null, seconds: number): void {
    const keyOf = ({ engine, operation, stage, reason }: Status['traffic']['refusals'][number]): string =>
      `${engine} ${operation} ${stage} ${reason}`
    const earlier = new Map(before?.traffic.refusals.map((refusal) => [keyOf(refusal), refusal.count]))
    const rows = status.traffic.refusals.map((refusal) => ({
      ...refusal,
      recent: Math.max(0, refusal.count - (earlier.get(keyOf(refusal)) ?? 0)),
    }))
    rows.sort((one, other) => other.recent - one.recent || other.count - one.count)
    for (const [id, kind] of [
      ['failures', 'outage'],
      ['refusals', 'refusal'],
      ['reported', 'report'],
    ] as const) {
      const own = rows.filter((row) => row.kind === kind)
      if (kind === 'report') show('reported-section', own.length > 0)
      else show(`no-${id}`, own.length === 0)
      show(id, own.length > 0)
      fillTable(
        id,
        own.slice(0, FEW).map(({ engine, operation, stage, reason, recent, count: all }) => ({
          kind: '',
          cells: [
            [operation === '' ? '(no operation)' : operation],
            [engine],
            [stage],
            [reason],
            [rate(recent / seconds), 'number'],
            [count(all), 'number'],
          ],
        })),
      )
    }
  }

  function showCache(status: Status, before: Status | null): void {
    const read = (of: Status, tier: string, result: string): number =>
      of.traffic.cache.find((one) => one.tier === tier && one.result === result)?.count ?? 0
    const recent = (tier: string, result: string): number =>
      Math.max(0, read(status, tier, result) - (before === null ? 0 : read(before, tier, result)))
    const hits = recent('memory', 'hit') + recent('redis', 'hit')
    const asked = recent('memory', 'hit') + recent('memory', 'miss')
    tile('cache', asked === 0 ? '–' : `${Math.round((100 * hits) / asked)} %`)
    const words = {
      none: ['not used', ''],
      unknown: ['not reached yet', 'warn'],
      up: ['responds', 'good'],
      down: ['does not respond', 'bad'],
    } as const
    const [word, tone] = words[status.redis]
    tile('redis', word, tone)
  }

  function healthOf(node: EngineStatus['nodes'][number]): readonly [string, Tone] {
    if (node.isDrained) return [node.isDrainedByCommand ? 'drained by a command' : 'drained', 'quiet']
    return node.reason === null ? ['healthy', 'good'] : [`ejected: ${node.reason}`, 'bad']
  }

  /** Returns the severity of an engine's problems. 0 means no problem. */
  function troubleOf({ nodes, sources, queue, isQueueStanding }: EngineStatus): number {
    const live = nodes.filter(({ isDrained }) => !isDrained)
    const ejected = live.filter(({ reason }) => reason !== null).length
    if (live.length === ejected) return 4
    if (sources.some(({ problem }) => problem !== null)) return 3
    if (ejected > 0) return 2
    return isQueueStanding || queue > 0 ? 1 : 0
  }

  function engineNotes({
    polls,
    queue,
    slow,
    isQueueStanding,
    sources,
    authorization,
    validation,
  }: EngineStatus): string {
    const problems = sources.flatMap(({ source, problem, ageMs }) =>
      problem === null
        ? []
        : [`${source}: ${problem}${ageMs === null ? '' : ` (last good ${since(ageMs)} ago)`}`],
    )
    return [
      `long polls ${polls.open} open, ${polls.waiting} waiting${polls.abandoned > 0 ? `, ${polls.abandoned} abandoned` : ''}`,
      `queue ${queue}${isQueueStanding ? ', standing' : ''}`,
      ...(slow.running + slow.waiting === 0
        ? []
        : [`slow operations ${slow.running} running, ${slow.waiting} waiting`]),
      ...(authorization === 'enforce' ? [] : [`authorization: ${authorization}`]),
      ...(validation === 'enforce' ? [] : [`validation: ${validation}`]),
      ...problems,
    ].join(' · ')
  }

  function certificateCell(endsAtMs: number | null, nowMs: number): Cell {
    if (endsAtMs === null) return ['', 'number']
    const leftMs = endsAtMs - nowMs
    if (leftMs <= 0) return ['ended', 'number bad']
    return [`in ${Math.floor(leftMs / DAY_MS)} d`, leftMs < 30 * DAY_MS ? 'number warn' : 'number']
  }

  function linesOf(engine: EngineStatus, nowMs: number): readonly TableLine[] {
    const live = engine.nodes.filter(({ isDrained }) => !isDrained)
    const healthy = live.filter(({ reason }) => reason === null).length
    const tone = healthy === live.length ? 'good' : healthy === 0 ? 'bad' : 'warn'
    const polls = engineNotes(engine)
    return [
      {
        kind: 'engine',
        cells: [
          [engine.name, '', polls],
          [`${healthy} of ${live.length} healthy`, tone],
          [count(sum(engine.nodes.map(({ inFlight }) => inFlight))), 'number'],
          [''],
          [count(sum(engine.nodes.map(({ ejections }) => ejections))), 'number'],
          [''],
        ],
      },
      ...engine.nodes.map((node) => {
        const [health, nodeTone] = healthOf(node)
        const cells: readonly Cell[] = [
          [node.node, '', node.group === null ? '' : `group ${node.group}`],
          [health, nodeTone],
          [`${count(node.inFlight)} of ${count(node.limit)}`, 'number'],
          [duration(node.latencyMs), 'number'],
          [count(node.ejections), 'number'],
          certificateCell(node.certificateEndsAtMs, nowMs),
        ]
        return { kind: 'node', cells }
      }),
    ]
  }

  function showEngines({ engines, nowMs }: Status): void {
    const nodes = engines.flatMap((engine) => engine.nodes).filter(({ isDrained }) => !isDrained)
    const healthy = nodes.filter(({ reason }) => reason === null).length
    const serving = engines.filter((engine) => troubleOf(engine) < 4).length
    tile(
      'engines-up',
      `${count(serving)} of ${count(engines.length)}`,
      serving === engines.length ? 'good' : 'bad',
    )
    tile(
      'nodes-up',
      `${count(healthy)} of ${count(nodes.length)}`,
      healthy === nodes.length ? 'good' : 'warn',
    )
    const [open, waiting] = [
      sum(engines.map(({ polls }) => polls.open)),
      sum(engines.map(({ polls }) => polls.waiting)),
    ]
    tile(
      'polls',
      waiting > 0 ? `${count(open)} + ${count(waiting)} waiting` : count(open),
      waiting > 0 ? 'warn' : '',
    )
    const wanted = field('filter').value.trim().toLowerCase()
    const found = engines.filter(
      ({ name, nodes: own }) =>
        name.toLowerCase().includes(wanted) || own.some(({ node }) => node.toLowerCase().includes(wanted)),
    )
    found.sort((one, other) => troubleOf(other) - troubleOf(one) || order.compare(one.name, other.name))
    const shown = isAll ? found : found.slice(0, FEW)
    fillTable(
      'engines',
      shown.flatMap((engine) => linesOf(engine, nowMs)),
    )
    const more = found.length - shown.length
    show('all', more > 0 || (isAll && found.length > FEW))
    say(byId('all'), more > 0 ? `Show all ${count(found.length)}` : `Show ${FEW}`)
    say(
      byId('shown'),
      more > 0 ? `${count(shown.length)} of ${count(found.length)}, those with problems first` : '',
    )
    fillEngineChoice(engines.map(({ name }) => name))
  }

  function stateOfGroups({
    to,
    from,
    reads,
    writes,
    returned,
    refused,
  }: NonNullable<EngineStatus['groups']>): readonly [string, Tone] {
    if (refused !== null) return [`${to} gets no requests`, 'bad']
    if (returned !== null) return [`returned from ${to} to ${from}: ${returned}`, 'bad']
    if (reads === 0 && writes === 0) return [`${from} gets all requests`, 'quiet']
    if (reads === 1 && writes === 1) return [`${to} gets all requests`, 'good']
    return [`requests are shifted from ${from} to ${to}`, 'warn']
  }

  function comparedCell(results: Readonly<Record<string, number>>): Cell {
    const all = Object.entries(results)
    const kinds = all.filter(([result]) => result !== 'different')
    const notes = kinds.map(([result, number]) => `${result} ${count(number)}`)
    return [count(sum(all.map(([, number]) => number))), 'number', notes.join(' · ')]
  }

  function percent(share: number): string {
    return `${Math.round(share * 1000) / 10} %`
  }

  /** The engines with differences come first. */
  function showGroups({ engines }: Status): void {
    const grouped = engines.flatMap(({ name, groups }) => (groups === null ? [] : [{ name, groups }]))
    const differentOf = ({ groups }: (typeof grouped)[number]): number =>
      groups.compared?.results['different'] ?? 0
    grouped.sort((one, other) => differentOf(other) - differentOf(one) || order.compare(one.name, other.name))
    show('groups-section', grouped.length > 0)
    fillTable(
      'groups',
      grouped.slice(0, FEW).map(({ name, groups }) => {
        const different = groups.compared?.results['different'] ?? 0
        const [state, tone] = stateOfGroups(groups)
        const cells: readonly Cell[] = [
          [name],
          [state, tone],
          [percent(groups.reads), 'number'],
          [percent(groups.writes), 'number'],
          groups.compared === null ? ['not compared', 'number quiet'] : comparedCell(groups.compared.results),
          [count(different), different > 0 ? 'number warn' : 'number'],
        ]
        return { kind: '', cells }
      }),
    )
    const found = grouped.flatMap(({ name, groups }) =>
      (groups.compared?.differences ?? []).map((difference) => ({ name, ...difference })),
    )
    found.sort((one, other) => other.atMs - one.atMs)
    show('differences-section', found.length > 0)
    fillTable(
      'differences',
      found.slice(0, FEW).map(({ name, operation, place, left, right, times, isConfirmed, atMs }) => ({
        kind: '',
        cells: [
          [operation],
          [name],
          [place],
          [left],
          [right],
          [isConfirmed ? count(times) : `${count(times)}, not confirmed`],
          [time(atMs)],
        ],
      })),
    )
  }

  function fillEngineChoice(names: readonly string[]): void {
    const choice = field('engine')
    if (isWritten(choice, names.join('\n'))) return
    const chosen = choice.value
    choice.replaceChildren(
      ...names.map((name) => {
        const option = document.createElement('option')
        option.textContent = name
        return option
      }),
    )
    choice.value = names.includes(chosen) ? chosen : names.includes('default') ? 'default' : (names[0] ?? '')
  }

  function showState(status: Status): void {
    const { configuration, workers, problems } = status
    tile('ready', status.ready ? 'ready' : 'not ready', status.ready ? 'good' : 'bad')
    for (const [id, kind] of [
      ['outages', 'outage'],
      ['problems', 'warning'],
    ] as const) {
      const own = problems.filter((problem) => problem.kind === kind)
      show(`${id}-section`, own.length > 0)
      fillProblems(id, own, status.nowMs)
    }
    showConfiguration(configuration)
    say(
      byId('about'),
      `${status.replica} · ${status.version} · up for ${since(status.nowMs - status.startedAtMs)}` +
        `${workers.configured > 1 ? ` · ${workers.answering} of ${workers.configured} workers` : ''} · ${time(status.nowMs)}`,
    )
    document.title = `${status.ready && problems.length === 0 ? '' : '(!) '}${status.replica} · engine-gateway`
    show('ask', status.mayAsk)
    show('no-ask', !status.mayAsk)
  }

  function showConfiguration(configuration: Status['configuration']): void {
    const { isApplied, lastReload } = configuration
    tile('configuration', isApplied ? 'in force' : 'refused', isApplied ? 'good' : 'bad')
    const lines = [`The configuration in force was applied at ${time(configuration.appliedAtMs)}.`]
    if (lastReload !== null)
      lines.push(
        `Last read at ${time(lastReload.atMs)} (${lastReload.cause}): ${lastReload.result}` +
          `${lastReload.changed.length > 0 ? `, changed: ${lastReload.changed.join(', ')}` : ''}.`,
      )
    say(byId('reload'), lines.join(' '))
    fillList('reload-problems', lastReload?.problems ?? [])
  }

  function showAll(status: Status): void {
    showState(status)
    showEngines(status)
    showGroups(status)
    showTraffic(status)
    show('stale', false)
    document.body.dataset['shown'] = String(status.nowMs)
  }

  async function refresh(): Promise<void> {
    if (isAsking) return
    isAsking = true
    window.clearTimeout(timer)
    try {
      const response = await fetch('status.json', { signal: AbortSignal.timeout(PATIENCE_MS) })
      if (!response.ok) throw new Error(`${response.status} ${(await response.text()).slice(0, 200)}`)
      const status: Status = await response.json()
      samples.push(status)
      if (samples.length > SAMPLES) samples.shift()
      showAll(status)
    } catch (error) {
      const last = samples[samples.length - 1]
      const age = last === undefined ? '' : ` The page shows the values of ${time(last.nowMs)}.`
      say(byId('stale'), `No status: ${error instanceof Error ? error.message : 'no response'}.${age}`)
      show('stale', true)
    } finally {
      isAsking = false
      if (!document.hidden) timer = window.setTimeout(() => void refresh(), REFRESH_MS)
    }
  }

  function showAgain(): void {
    const last = samples[samples.length - 1]
    if (last !== undefined) showEngines(last)
  }

  function responseOf(value: unknown): { readonly tone: Tone; readonly head: string; readonly text: string } {
    const { decision, text, error } = Object(value)
    if (typeof error === 'string') return { tone: 'warn', head: 'No answer', text: error }
    if (typeof text !== 'string') return { tone: 'warn', head: 'No answer', text: '' }
    return decision === 'permitted'
      ? { tone: 'good', head: 'Permitted', text }
      : { tone: 'bad', head: 'Refused', text }
  }

  async function ask(): Promise<void> {
    const body = field('body').value.trim()
    const question = {
      user: field('user').value.trim(),
      engine: field('engine').value,
      request: field('request').value.trim(),
      ...(body === '' ? {} : { body }),
      text: true,
    }
    const button = byId('send')
    button.setAttribute('disabled', '')
    try {
      const response = await fetch('explain', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-requested-by': 'status page' },
        body: JSON.stringify(question),
        signal: AbortSignal.timeout(3 * PATIENCE_MS),
      })
      const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
      showAnswer(responseOf(isJson ? await response.json() : { error: await response.text() }))
    } catch (error) {
      showAnswer(responseOf({ error: error instanceof Error ? error.message : 'no response' }))
    } finally {
      button.removeAttribute('disabled')
    }
  }

  function showAnswer({ tone, head, text }: ReturnType<typeof responseOf>): void {
    say(byId('decision'), head, tone)
    say(byId('explanation'), text)
  }

  byId('filter').addEventListener('input', showAgain)
  byId('all').addEventListener('click', () => {
    isAll = !isAll
    showAgain()
  })
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the event has the name of an operation, and only the table may contain those names
  byId('ask').onsubmit = (event) => {
    event.preventDefault()
    void ask()
  }
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) void refresh()
  })
  void refresh()
}
