import t, { type Test } from 'tap'
import type { AdminAccess } from '../../../src/metrics/admin-access.ts'
import { createAdmin, type Readiness } from '../../../src/metrics/admin-listener.ts'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { adminRoutesOf } from '../../../src/server/admin-routes.ts'
import type { EngineStatus, ProcessStatus } from '../../../src/status/process-status.ts'
import { type ConfigurationStatus, statusOf } from '../../../src/status/status.ts'
import { createProblemTimes } from '../../../src/status/problem-times.ts'
import { createStatusPage } from '../../../src/status/status-page.ts'
import { administered } from '../../support/administered.ts'
import { BROWSER_PATIENCE_MS, openPage, type OpenPage } from '../../support/chromium.ts'
import { startNode } from '../../support/fake-engine.ts'
import { BASE } from '../../support/open-gateway.ts'
import { startReloadable } from '../../support/reloadable.ts'
import { chromiumSkip } from '../../support/requirements.ts'

const TOKEN = 'a-token-of-this-test'
const HOSTILE = `"><img src=x onerror="window.hit=1"><script>window.hit=1</script>'`

t.test('the status page loads no other file, and its policy lists its own script and style', async (t) => {
  const { html, headers } = createStatusPage(OPERATIONS)
  t.notMatch(html, /\s(?:src|href)=(?!"data:,")/, 'nothing is fetched')
  t.notMatch(html, /\son\w+=|javascript:|\sstyle=/, 'no code and no style in attributes')
  t.equal(html.split('</script').length, 2)
  const policy = headers['content-security-policy'] ?? ''
  t.match(policy, /default-src 'none'; script-src 'sha256-[^' ]+'; style-src 'sha256-[^' ]+';/)
  t.notMatch(policy, /unsafe|https?:/)
  for (const { method, template } of OPERATIONS) t.ok(html.includes(`"${method} ${template}"`), template)
})

const NODE = {
  node: 'http://engine-a:8080/engine-rest',
  isDrained: false,
  group: null,
  isDrainedByCommand: false,
  reason: null,
  limit: 64,
  inFlight: 3,
  polls: 1,
  latencyMs: 12,
  ejections: 0,
  certificateEndsAtMs: null,
}

function engineOf(name: string, more: Partial<EngineStatus> = {}): EngineStatus {
  return {
    name,
    authorization: 'enforce',
    validation: 'enforce',
    sources: [
      { source: 'users', problem: null, ageMs: 1000 },
      { source: 'records', problem: null, ageMs: 1000 },
    ],
    polls: { open: 1, waiting: 0, abandoned: 0 },
    queue: 0,
    slow: { running: 0, waiting: 0 },
    isQueueStanding: false,
    nodes: [NODE, { ...NODE, node: 'http://engine-b:8080/engine-rest' }],
    groups: null,
    ...more,
  }
}

/** Returns the status of groups with a difference at each of these members. */
function groupsOf(name: string, places: readonly string[]): NonNullable<EngineStatus['groups']> {
  const atMs = Date.UTC(2026, 0, 31, 12)
  const difference = { operation: name, left: name, right: name, times: 2, isConfirmed: true, atMs }
  return {
    to: name,
    from: name,
    reads: 0.25,
    writes: 0,
    returned: name,
    finding: null,
    refused: null,
    compared: {
      results: { equal: 1264, 'known: form-reference': 46, different: places.length },
      waiting: 0,
      differences: places.map((place) => ({ ...difference, place })),
    },
  }
}

const CONFIGURATION: ConfigurationStatus = {
  isApplied: true,
  appliedAtMs: 1,
  lastReload: null,
  warnings: [],
}

interface Shown {
  readonly process: () => ProcessStatus
  readonly configuration?: ConfigurationStatus
  readonly explain?: (question: unknown) => unknown
  readonly access?: AdminAccess
  readonly readiness?: () => Readiness
}

const REPLICA = 'gateway-7d4b9c-x2x4z'
const READY: Readiness = { ready: true, checks: {} }

/** Opens an admin listener with a status that the test defines. */
async function openAdmin(t: Test, shown: Shown) {
  const { process, configuration = CONFIGURATION, explain, access, readiness = () => READY } = shown
  const dateProblems = createProblemTimes(() => Date.UTC(2026, 0, 31, 12))
  const given = access ?? { host: '127.0.0.1', hosts: [], token: TOKEN, tokens: [] }
  const admin = await createAdmin({
    host: '127.0.0.1',
    port: 0,
    access: () => given,
    slowGuesses: (_address, verify) => verify(),
    routes: adminRoutesOf(
      administered({
        explain: (question) => explain?.(question) ?? {},
        statusPage: createStatusPage(OPERATIONS),
        status: async () =>
          statusOf({
            processes: [process()],
            workers: 1,
            readiness: readiness(),
            configuration,
            replica: REPLICA,
            version: '1',
            dateProblems,
            mayAsk: given.token !== null,
          }),
      }),
    ),
    tls: null,
    log: { error: () => undefined, info: () => undefined },
  })
  t.teardown(() => admin.close())
  return admin
}

function processOf(
  engines: readonly EngineStatus[],
  more: Partial<ProcessStatus['traffic']> = {},
): ProcessStatus {
  return {
    engines,
    redis: 'none',
    pressure: [],
    traffic: { inFlight: 0, operations: [], engines: [], refusals: [], cache: [], ...more },
  }
}

const IS_SHOWN = 'document.body?.dataset.shown !== undefined'

/** Opens the status page as a browser does that knows the token. */
async function visit(page: OpenPage, address: string): Promise<void> {
  const authorization = `Basic ${Buffer.from(`:${TOKEN}`).toString('base64')}`
  await page.send('Network.setExtraHTTPHeaders', { headers: { authorization } })
  await page.send('Page.navigate', { url: `${address}/status` })
  await page.wait(IS_SHOWN)
}

function textOf(page: OpenPage, selector: string): Promise<unknown> {
  return page.read(`document.querySelector(${JSON.stringify(selector)}).innerText`)
}

/** Submits a question about a permission on the page. Returns the displayed decision. */
async function answerOf(page: OpenPage, user: string, request: string) {
  await page.read(`(() => {
    document.getElementById('decision').textContent = ''
    document.getElementById('user').value = ${JSON.stringify(user)}
    document.getElementById('request').value = ${JSON.stringify(request)}
    document.getElementById('ask').requestSubmit()
  })()`)
  await page.wait(`document.getElementById('decision').textContent !== ''`)
  return { decision: await textOf(page, '#decision'), text: await textOf(page, '#explanation') }
}

/** Returns the reports of the browser about policy violations and errors of a page. */
function complaintsOf(page: OpenPage): readonly unknown[] {
  return [
    ...page.events('Runtime.exceptionThrown'),
    ...page.events('Runtime.consoleAPICalled'),
    ...page.events('Log.entryAdded'),
  ]
}

function urlsOf(page: OpenPage): readonly string[] {
  return page.events('Network.requestWillBeSent').map(({ request }) => String(Object(request).url))
}

const OPTIONS = { skip: chromiumSkip, timeout: 4 * BROWSER_PATIENCE_MS }

void t.test('a browser shows the status page of a gateway', OPTIONS, async (t) => {
  const node = await startNode(t, ({ url }, response) =>
    response.setHeader('content-type', 'application/json').end(url.includes('/count') ? '{"count":0}' : '[]'),
  )
  const gateway = await startReloadable(t, {
    engines: { default: { nodes: [node.url + BASE] } },
    health: { probe: false },
    admin: { port: 0, token: TOKEN },
  })
  await (await gateway.ask('demo', '/task')).text()
  const hazard = { method: 'POST', body: '{"assigneeExpression":"${1 + 1}"}' }
  t.equal((await gateway.ask('demo', '/task', hazard)).status, 400)
  const { adminAddress } = gateway.running
  const page = await openPage(t)

  await t.test('the status page requires the token', async (t) => {
    await page.send('Page.navigate', { url: `${adminAddress}/status` })
    await page.wait(`document.readyState === 'complete'`)
    t.notMatch(await page.read('document.documentElement.innerText'), /Engines|default/)
    for (const path of ['/status', '/status.json'])
      t.equal((await fetch(adminAddress + path)).status, 401, path)
  })

  const before = { complaints: complaintsOf(page).length, urls: urlsOf(page).length }
  await visit(page, adminAddress)
  await t.test('the status page shows engines, nodes and traffic', async (t) => {
    t.match(await textOf(page, '#engines'), /default[\s\S]*1 of 1 healthy[\s\S]*http:\/\/127\.0\.0\.1:/)
    t.match(await textOf(page, '#operations'), /getTasks/)
    t.match(await textOf(page, '#refusals'), /queryTasks[\s\S]*body/)
    t.equal(await textOf(page, '#engines-up'), '1 of 1')
    t.equal(await textOf(page, '#redis'), 'not used')
    t.equal(await textOf(page, '#configuration'), 'in force')
  })

  await t.test('the status page explains permissions with the words of the explain command', async (t) => {
    t.match(await answerOf(page, 'demo', 'GET /task'), {
      decision: 'Permitted',
      text: /GET \/task \(getTasks\)/,
    })
    t.match(await answerOf(page, 'mary', 'POST /deployment/create'), {
      decision: 'Refused',
      text: /Missing:/,
    })
    t.match(await answerOf(page, HOSTILE, 'GET /task'), {
      decision: 'No answer',
      text: `has no user ${HOSTILE}`,
    })
    t.equal(node.seen.filter(({ method }) => method === 'POST').length, 0, 'and nothing is done')
  })

  await t.test('the status page sends one request for each refresh and none to other hosts', async (t) => {
    const count = () => urlsOf(page).filter((url) => url.endsWith('/status.json')).length
    const from = count()
    await page.wait(
      `Number(document.body.dataset.shown) > ${String(await page.read('document.body.dataset.shown'))}`,
    )
    t.equal(count(), from + 1)
    const paths = urlsOf(page)
      .slice(before.urls)
      .filter((url) => !url.startsWith('data:'))
      .map((url) => url.replace(adminAddress, ''))
    t.same([...new Set(paths)].toSorted(), ['/explain', '/status', '/status.json'])
    // A refused question is a 400, which the browser reports.
    const complaints = complaintsOf(page).slice(before.complaints)
    t.same(
      complaints.filter((one) => !JSON.stringify(one).includes('/explain')),
      [],
    )
  })

  await t.test('the status page shows a refused reload with its problems', async (t) => {
    await gateway.write({
      engines: { default: { nodes: [node.url + BASE] } },
      listen: { port: 1 },
      admin: { port: 0, token: TOKEN },
    })
    await gateway.running.reload()
    await page.read(`document.dispatchEvent(new Event('visibilitychange'))`)
    await page.wait(`document.getElementById('configuration').textContent === 'refused'`)
    t.match(await textOf(page, '#reload-problems'), 'listen.port: needs a restart')
  })
})

void t.test('the status page shows hostile names as text', OPTIONS, async (t) => {
  const engines = [
    engineOf(HOSTILE, {
      nodes: [{ ...NODE, node: HOSTILE, reason: 'refused' }],
      sources: [
        { source: 'users', problem: HOSTILE, ageMs: 1 },
        { source: 'records', problem: null, ageMs: 1 },
      ],
      authorization: HOSTILE,
      groups: groupsOf(HOSTILE, [HOSTILE]),
    }),
  ]
  const process = processOf(engines, {
    operations: [{ operation: HOSTILE, failed: 0, refused: 1, durations: [1] }],
    engines: [{ engine: HOSTILE, failed: 0, refused: 1, durations: [1] }],
    refusals: (['outage', 'refusal', 'report'] as const).map((kind) => ({
      engine: HOSTILE,
      operation: HOSTILE,
      stage: HOSTILE,
      reason: HOSTILE,
      count: 1,
      kind,
    })),
  })
  const lastReload = {
    atMs: 1,
    cause: HOSTILE,
    result: 'refused',
    changed: [HOSTILE],
    problems: [HOSTILE],
  } as const
  const admin = await openAdmin(t, {
    process: () => ({ ...process, pressure: [HOSTILE] }),
    configuration: { isApplied: false, appliedAtMs: 1, lastReload, warnings: [HOSTILE] },
    explain: () => ({ decision: HOSTILE, text: HOSTILE }),
    readiness: () => ({ ready: true, checks: { [`nodes of ${HOSTILE}:`]: HOSTILE } }),
  })
  const page = await openPage(t)
  await visit(page, admin.address)
  t.match(await answerOf(page, HOSTILE, 'GET /task'), { text: HOSTILE })
  t.equal(await textOf(page, '#engines .engine span'), HOSTILE)
  t.equal(await textOf(page, '#engines .node td'), HOSTILE)
  t.equal(await page.read(`document.querySelectorAll('img').length`), 0)
  t.equal(await page.read(`document.querySelectorAll('script').length`), 1)
  t.equal(await page.read('window.hit === undefined'), true)
  t.same(complaintsOf(page), [])

  await t.test('code inserted into the status page does not run', async (t) => {
    await page.read(
      `document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="window.hit=1"><p style="color:red">')`,
    )
    await page.read(`(() => {
      const script = document.createElement('script')
      script.textContent = 'window.hit = 1'
      document.body.append(script)
    })()`)
    await page.wait(`document.images.length === 1 && document.images[0].complete`)
    t.equal(await page.read('window.hit === undefined'), true)
    t.ok(page.events('Log.entryAdded').length > 0, 'the policy refuses it')
  })
})

void t.test('the status page with 500 engines', OPTIONS, async (t) => {
  const process = processOf(
    Array.from({ length: 500 }, (_, at) =>
      engineOf(`engine-${at}`, {
        groups: groupsOf('group', ['/a', '/b', '/c', '/d', '/e']),
        ...(at === 499 && { nodes: [{ ...NODE, reason: 'timeout' }] }),
      }),
    ),
    {
      operations: OPERATIONS.map(({ id }) => ({
        operation: id,
        failed: 0,
        refused: 7,
        durations: Array.from({ length: 15 }, (_, at) => at),
      })),
      engines: Array.from({ length: 500 }, (_, at) => ({
        engine: `engine-${at}`,
        failed: 0,
        refused: 0,
        durations: Array.from({ length: 15 }, () => at),
      })),
      refusals: OPERATIONS.map(({ id }) => ({
        engine: 'engine-1',
        operation: id,
        stage: 'permit',
        reason: '403',
        count: 7,
        kind: 'refusal',
      })),
    },
  )
  const admin = await openAdmin(t, { process: () => process })
  const page = await openPage(t)
  await visit(page, admin.address)

  await t.test('500 engines: only some are shown at first, those with problems at the top', async (t) => {
    t.equal(await textOf(page, '#engines-up'), '499 of 500')
    t.equal(await textOf(page, '#engines .engine span'), 'engine-499')
    t.equal(await page.read(`document.querySelectorAll('#engines .engine').length`), 25)
    const paintMs = await page.read(`performance.getEntriesByName('first-contentful-paint')[0].startTime`)
    const filledMs = await page.read(
      `performance.getEntriesByType('resource').find(({ name }) => name.endsWith('.json')).responseEnd`,
    )
    const size = (
      await (
        await fetch(`${admin.address}/status.json`, { headers: { authorization: `Bearer ${TOKEN}` } })
      ).text()
    ).length
    t.comment(
      `first paint after ${Number(paintMs)} ms, values after ${Number(filledMs)} ms; a status has ${Math.round(size / 1024)} KiB`,
    )
    t.ok(size < 1024 * 1024)
  })

  await t.test('500 engines: all are shown on request and can be filtered by name and address', async (t) => {
    await page.read(`document.getElementById('all').click()`)
    t.equal(await page.read(`document.querySelectorAll('#engines .engine').length`), 500)
    await page.read(`(() => {
      document.getElementById('filter').value = 'ENGINE-42'
      document.getElementById('filter').dispatchEvent(new Event('input'))
    })()`)
    t.equal(await page.read(`document.querySelectorAll('#engines .engine').length`), 11)
  })
})

void t.test(
  'the status page lists problems with their time and a link to the runbook',
  OPTIONS,
  async (t) => {
    const gone = { ...NODE, node: 'http://engine-c:8080/engine-rest', reason: 'refused' } as const
    const drained = { ...NODE, isDrained: true, isDrainedByCommand: true }
    const refusal = { operation: 'getTasks', stage: 'permit', count: 5 }
    const admin = await openAdmin(t, {
      process: () =>
        processOf(
          [engineOf('default', { nodes: [NODE, gone] }), engineOf('second', { nodes: [NODE, drained] })],
          {
            operations: [{ operation: 'getTasks', failed: 5, refused: 9, durations: [10] }],
            engines: [
              { engine: 'default', failed: 5, refused: 0, durations: [4] },
              { engine: 'second', failed: 0, refused: 9, durations: [6] },
            ],
            refusals: [
              { ...refusal, engine: 'default', reason: 'GW_NO_NODE', kind: 'outage' },
              { ...refusal, engine: 'second', reason: '403', count: 9, kind: 'refusal' },
              { ...refusal, engine: 'second', stage: 'permit-report', reason: '404', kind: 'report' },
            ],
          },
        ),
      readiness: () => ({
        ready: true,
        checks: {
          'nodes of third:': 'none of 2 is healthy',
          'nodes of default:': '1 of 2 are ejected',
        },
      }),
    })
    const page = await openPage(t)
    await visit(page, admin.address)

    await t.test('outages are listed apart from other problems', async (t) => {
      t.match(await textOf(page, '#outages'), /^nodes of third: none of 2.*since 2026-01-31 12:00:00 UTC/)
      const problems = await textOf(page, '#problems')
      t.match(problems, /nodes of default: 1 of 2 are ejected/)
      t.match(problems, /node http:\/\/engine-a:8080\/engine-rest of second: drained by a command/)
      t.match(await textOf(page, '#about'), `${REPLICA} · 1 · up for`)
      t.match(await page.read('document.title'), `(!) ${REPLICA}`)
    })

    await t.test('traffic and refusals are shown by engine, and outages apart from refusals', async (t) => {
      t.match(await textOf(page, '#traffic'), /second[\s\S]*default/)
      t.match(await textOf(page, '#failures'), /getTasks\s+default\s+permit\s+GW_NO_NODE/)
      t.match(await textOf(page, '#refusals'), /getTasks\s+second\s+permit\s+403/)
      t.notMatch(await textOf(page, '#refusals'), /GW_NO_NODE|404/)
      t.match(await textOf(page, '#reported'), /permit-report\s+404/)
    })

    await t.test('the link of a problem leads to its runbook', async (t) => {
      await page.read(`document.querySelector('#outages a').click()`)
      await page.wait(`document.title === 'GatewayEngineDown' && document.readyState === 'complete'`)
      t.match(await textOf(page, 'pre'), /## Mitigation/)
      for (const width of [320, 390]) {
        const metrics = { width, height: 800, deviceScaleFactor: 1, mobile: true }
        await page.send('Emulation.setDeviceMetricsOverride', metrics)
        t.ok(Number(await page.read('document.documentElement.scrollWidth')) <= width, `${width} pixels`)
      }
      t.same(complaintsOf(page), [])
    })
  },
)

void t.test('the status page supports dark mode and narrow screens', OPTIONS, async (t) => {
  const admin = await openAdmin(t, {
    process: () => processOf([engineOf('default'), engineOf('n'.repeat(64))]),
  })
  const page = await openPage(t)
  await visit(page, admin.address)
  const groundOf = async (scheme: string) => {
    await page.send('Emulation.setEmulatedMedia', {
      features: [{ name: 'prefers-color-scheme', value: scheme }],
    })
    return page.read('getComputedStyle(document.body).backgroundColor')
  }
  t.not(await groundOf('light'), await groundOf('dark'))
  for (const width of [320, 390, 768, 1600]) {
    await page.send('Emulation.setDeviceMetricsOverride', {
      width,
      height: 800,
      deviceScaleFactor: 1,
      mobile: width < 500,
    })
    t.ok(Number(await page.read('document.documentElement.scrollWidth')) <= width, `${width} pixels`)
  }
})

void t.test('the status page reports what the browser cannot load', OPTIONS, async (t) => {
  let isBroken = false
  const admin = await openAdmin(t, {
    process: () => {
      if (isBroken) throw new Error('inner')
      return processOf([engineOf('default')])
    },
    access: { host: '127.0.0.1', hosts: [], token: null, tokens: [] },
  })
  const page = await openPage(t)
  await visit(page, admin.address)
  t.equal(await page.read(`document.getElementById('stale').hidden`), true)
  t.match(await textOf(page, '#no-ask'), /admin\.token/)
  t.equal(await page.read(`document.getElementById('ask').hidden`), true, 'nobody asks who is not known')
  isBroken = true
  await page.read(`document.dispatchEvent(new Event('visibilitychange'))`)
  await page.wait(`!document.getElementById('stale').hidden`)
  t.match(await textOf(page, '#stale'), /^No status: 500 error/)
  t.match(await textOf(page, '#engines'), /default/, 'what was shown last stays')
  isBroken = false
  await page.read(`document.dispatchEvent(new Event('visibilitychange'))`)
  await page.wait(`document.getElementById('stale').hidden`)
})

void t.test('the status page shows the groups of nodes and the comparison', OPTIONS, async (t) => {
  const node = { ...NODE, group: 'old' }
  const groups = {
    ...groupsOf('getTask', ['/name']),
    to: 'new',
    from: 'old',
    returned: null,
    finding: null,
    refused: null,
  }
  const admin = await openAdmin(t, {
    process: () => processOf([engineOf('plain'), engineOf('default', { nodes: [node], groups })]),
  })
  const page = await openPage(t)
  await visit(page, admin.address)
  t.match(await textOf(page, '#engines'), /engine-rest\s+group old/)
  t.match(
    await textOf(page, '#groups tbody'),
    /^default\s+requests are shifted from old to new\s+25 %\s+0 %\s+1,311\s+equal 1,264 · known: form-reference 46\s+1$/,
  )
  t.match(
    await textOf(page, '#differences tbody'),
    /^getTask\s+default\s+\/name\s.*\s2\s+2026-01-31 12:00:00 UTC$/,
  )
})

void t.test('the status page shows that a group is refused', OPTIONS, async (t) => {
  const groups = { ...groupsOf('getTask', ['/name']), to: 'new', from: 'old', refused: 'old schema' }
  const admin = await openAdmin(t, { process: () => processOf([engineOf('default', { groups })]) })
  const page = await openPage(t)
  await visit(page, admin.address)
  t.match(await textOf(page, '#groups tbody'), /^default\s+new gets no requests\s/)
})

void t.test('the status page has no groups if no engine has some', OPTIONS, async (t) => {
  const admin = await openAdmin(t, { process: () => processOf([engineOf('plain')]) })
  const page = await openPage(t)
  await visit(page, admin.address)
  t.equal(await page.read(`document.getElementById('groups-section').hidden`), true)
})
