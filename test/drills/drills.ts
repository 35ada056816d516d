import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'
import { parse } from 'yaml'
import { recordsOf } from '../support/people.ts'
import { startRedis } from '../support/redis.ts'
import { type DrillCertificate, makeCertificate } from './certificate.ts'
import { type Drill, openDrill } from './drill.ts'
import { type EngineNode, startEngineNode } from './engine-node.ts'
import { keep } from './load.ts'

const SECOND_MS = 1000
const MIB = 1024 ** 2
const FAILED = 'camunda_jobs_out_of_retries{engine="default"}'
const WAITING = 'camunda_external_tasks_waiting{engine="default",topic="mail"}'

/** The drill of each alert. It causes the fault, waits for the alert, runs the commands of the runbook page, and waits until the alert ends. */
export const DRILLS: Readonly<Record<string, (t: Test, alert: string) => Promise<void>>> = {
  GatewayDown: async (t, alert) => {
    const drill = await openPlain(t, alert)
    await drill.gateway.kill()
    await drill.fires()
    t.match(await drill.follow('Diagnosis'), /no answer\nno admin listener/)
    t.match(await drill.follow('Mitigation'), /is good/)
    await drill.gateway.startAgain()
    await drill.ends()
  },

  GatewayEngineDown: async (t, alert) => {
    const node = await startEngineNode(t)
    const drill = await openDrill(t, { alert, nodes: [node.base], settings: {} })
    await node.stop()
    t.match(await drill.fires(), { labels: { engine: 'default' } })
    t.match(await drill.follow('Diagnosis'), /\[-\] nodes of default.*reason="refused".*no answer/s)
    await node.start()
    await drill.follow('Mitigation')
    await drill.ends()
  },

  GatewayNodeEjected: async (t, alert) => {
    const [node, other] = [await startEngineNode(t), await startEngineNode(t)]
    const drill = await openDrill(t, { alert, nodes: [node.base, other.base], settings: {} })
    keep(t, () => drill.ask('demo', '/task'), { pauseMs: 200 })
    await node.stop()
    t.match(await drill.fires(), { labels: { engine: 'default', node: node.base } })
    t.match(await drill.follow('Diagnosis'), /reason="refused".*"node ejected".*no answer/s)
    t.match(await drill.follow('Mitigation'), /is drained \(engine default\): 0 requests running/)
    await drill.ends()
  },

  GatewayShiftReturned: async (t, alert) => {
    const [old, other] = [await startEngineNode(t), await startEngineNode(t)]
    const engine = groupsOf(old, other, '100%')
    const drill = await openDrill(t, { alert, nodes: [old.base], settings: { engines: { default: engine } } })
    keep(t, () => drill.ask('demo', '/task'), { pauseMs: 50 })
    other.state.status = 500
    t.match(await drill.fires(), { labels: { engine: 'default' } })
    t.match(
      await drill.follow('Diagnosis'),
      /All requests returned to old.*gateway_shift_returned.* 1.*"reason":"errors"/s,
    )
    other.state.status = 200
    t.match(await drill.follow('Mitigation'), /new gets 1% of the reads/)
    await drill.ends()
  },

  GatewayGroupRefused: async (t, alert) => {
    const [old, other] = [await startEngineNode(t), await startEngineNode(t)]
    other.state.schema = '7.22.0'
    const drill = await openDrill(t, {
      alert,
      nodes: [old.base],
      settings: { engines: { default: groupsOf(old, other, '1%') } },
    })
    t.match(await drill.fires(), { labels: { engine: 'default', group: 'new' } })
    t.match(
      await drill.follow('Diagnosis'),
      /needs the schema 7\.23, and the database has 7\.22\.0.*gateway_group_refused.* 1/s,
    )
    other.state.schema = '7.24.0'
    t.match(await drill.follow('Mitigation'), /new gets 1% of the reads/)
    await drill.ends()
  },

  GatewayDifferencesFound: async (t, alert) => {
    const [old, other] = [await startEngineNode(t), await startEngineNode(t)]
    const drill = await openDrill(t, {
      alert,
      nodes: [old.base],
      settings: { engines: { default: { ...groupsOf(old, other, '50%'), compare: { rate: '100%' } } } },
    })
    const count = '/external-task/count'
    keep(t, () => drill.ask('demo', count), { pauseMs: 200 })
    other.state.tasks = 3
    t.match(await drill.fires(), { labels: { engine: 'default' } })
    t.match(
      await drill.follow('Diagnosis'),
      /getExternalTasksCount \/count: number, number.*new gets 50% of the reads.*result="different".*"place":"\/count"/s,
    )
    other.state.tasks = 0
    t.match(await drill.follow('Mitigation'), /new gets 0% of the reads/)
    await drill.ends()
  },

  GatewayShiftIncomplete: async (t, alert) => {
    const [old, other] = [await startEngineNode(t), await startEngineNode(t)]
    const drill = await openDrill(t, {
      alert,
      nodes: [old.base],
      settings: { engines: { default: groupsOf(old, other, '0%') } },
    })
    await drill.change({ engines: { default: groupsOf(old, other, '100%') } })
    t.match(await drill.fires(), { labels: { engine: 'default' } })
    t.match(
      await drill.follow('Diagnosis'),
      /new gets 100% of the reads and 0% of the writes.*gateway_shift_share/s,
    )
    t.match(await drill.follow('Mitigation'), /new gets 0% of the reads and 0% of the writes/)
    await drill.ends()
  },

  GatewayServerErrors: async (t, alert) => {
    const node = await startEngineNode(t)
    const drill = await openDrill(t, { alert, nodes: [node.base], settings: {} })
    keep(t, () => drill.ask('demo', '/task'), { pauseMs: 50 })
    node.state.status = 500
    await drill.fires()
    t.match(await drill.follow('Diagnosis'), /http_response_status_code="500".*"status":500/s)
    node.state.status = 200
    t.match(await drill.follow('Mitigation'), /^200$/m)
    await drill.ends()
  },

  GatewayLatencyHigh: async (t, alert) => {
    const node = await startEngineNode(t)
    const drill = await openDrill(t, { alert, nodes: [node.base], settings: {} })
    node.state.delayMs = 4000
    keep(t, () => drill.ask('demo', '/task'), { atOnce: 20, pauseMs: 50 })
    t.match(await drill.fires(), { labels: { engine: 'default' } })
    t.match(
      await drill.follow('Diagnosis'),
      /http_client_request_duration_seconds_sum.*operation="getTasks"/s,
    )
    node.state.delayMs = 0
    t.match(await drill.follow('Mitigation'), /^\d+\.\d+ s$/m)
    await drill.ends()
  },

  GatewayOverloaded: async (t, alert) => {
    const node = await startEngineNode(t)
    const settings = { limits: { connections: 1, queue: { size: 1 }, pressure: { eventLoopDelay: null } } }
    const drill = await openDrill(t, { alert, nodes: [node.base], settings })
    node.state.delayMs = 200
    keep(t, () => drill.ask('demo', '/task'), { atOnce: 30, pauseMs: 50 })
    await drill.fires()
    t.match(await drill.follow('Diagnosis'), /GW_OVERLOADED/)
    t.match(await drill.follow('Mitigation'), /"applied"/)
    await drill.ends()
  },

  GatewayBacklog: async (t, alert) => {
    const node = await startEngineNode(t)
    const settings = { limits: { connections: 1, pressure: { eventLoopDelay: null } } }
    const drill = await openDrill(t, { alert, nodes: [node.base], settings })
    node.state.delayMs = 200
    keep(t, () => drill.ask('demo', '/task'), { atOnce: 30 })
    t.match(await drill.fires(), { labels: { engine: 'default' } })
    t.match(await drill.follow('Diagnosis'), /gateway_upstream_queue\{engine="default"\} [1-9]/)
    t.match(await drill.follow('Mitigation'), /"applied"/)
    await drill.ends()
  },

  GatewayTaskBacklogGrows: async (t, alert) => {
    const node = await startEngineNode(t)
    const settings = { engines: { default: { nodes: [node.base], gauges: { every: '10s' } } } }
    node.state.tasks = 20
    const drill = await openDrill(t, { alert, nodes: [node.base], settings })
    while ((await drill.metric(WAITING)) !== 20) await wait(SECOND_MS)
    node.state.tasks = 200
    t.match(await drill.fires(), { labels: { engine: 'default', topic: 'mail' } })
    t.match(await drill.follow('Diagnosis'), /topic="mail"\} 200.*no worker asks.*"count":200/s)
    // Simulates workers that complete the tasks again.
    node.state.tasks = 0
    await drill.follow('Mitigation')
    await drill.ends()
  },

  GatewayIncidentsRise: async (t, alert) => {
    const node = await startEngineNode(t)
    const settings = { engines: { default: { nodes: [node.base], gauges: { every: '10s' } } } }
    node.state.failedJobs = 20
    const drill = await openDrill(t, { alert, nodes: [node.base], settings })
    while ((await drill.metric(FAILED)) !== 20) await wait(SECOND_MS)
    node.state.failedJobs = 200
    t.match(await drill.fires(), {
      labels: { engine: 'default', severity: 'warning' },
      annotations: { description: /at least 178 more/ },
    })
    const told = await drill.follow('Diagnosis')
    t.match(told, /incident_type="failedJob"\} 200.*"incidentMessage":"the payment service/s)
    // Simulates that an operator has set the retries again.
    node.state.failedJobs = 0
    await drill.ends()
    t.match(await drill.follow('Mitigation'), /out_of_retries\{engine="default"\} 0/)
  },

  GatewayRefusalsJump: async (t, alert) => {
    const drill = await openPlain(t, alert)
    const body = JSON.stringify({ id: 'g', name: 'g', type: 'WORKFLOW' })
    keep(t, () => drill.ask('nobody', '/group/create', { method: 'POST', body }), { pauseMs: 100 })
    await drill.fires()
    t.match(await drill.follow('Diagnosis'), /stage="permit".*"user":"nobody"/s)
    const suggested: { readonly authorizations: ReturnType<typeof recordsOf> } = parse(
      await drill.follow('Mitigation'),
    )
    const authorizations = [...recordsOf([]), ...suggested.authorizations]
    await drill.write('records.yaml', JSON.stringify({ authorizations }))
    await drill.ends()
    t.equal(await drill.ask('nobody', '/group/create', { method: 'POST', body }), 204)
  },

  GatewayPasswordGuessing: async (t, alert) => {
    const drill = await openPlain(t, alert)
    let guesses = 0
    const guess = () => {
      guesses += 1
      const authorization = `Basic ${Buffer.from(`mary:guess-${guesses}`).toString('base64')}`
      return drill.ask('mary', '/task', { headers: { authorization } })
    }
    const guesser = keep(t, guess, { atOnce: 4, pauseMs: 50 })
    t.match(await drill.fires(), { labels: { engine: 'default' } })
    t.match(await drill.follow('Diagnosis'), /"client":"127\.0\.0\.1".*"attemptedUser":"mary"/s)
    t.match(await drill.follow('Mitigation'), /^\$argon2id\$/)
    // The runbook blocks the address in front of the gateway. The drill stops the guesses instead.
    await guesser.stop()
    await drill.ends()
    t.equal(await drill.ask('mary', '/engine'), 200, 'who is right gets in')
  },

  GatewayTokensRefused: async (t, alert) => {
    const tokens = { session: { secret: Buffer.alloc(48, 'drill').toString('base64') } }
    const identity = { source: 'file', file: 'users.yaml', remember: '1h', tokens }
    const nodes = [(await startEngineNode(t)).base]
    const drill = await openDrill(t, { alert, nodes, settings: { identity } })
    const headers = { authorization: `Bearer ${forgedToken()}` }
    const client = keep(t, () => drill.ask('mary', '/task', { headers }), { atOnce: 4, pauseMs: 50 })
    t.match(await drill.fires(), { labels: { engine: 'default' } })
    const told = await drill.follow('Diagnosis')
    t.match(told, /"rule":"token: signature".*"client":"127\.0\.0\.1".*no issuer is configured/s)
    await client.stop()
    t.match(await drill.follow('Mitigation'), /"applied"/)
    await drill.ends()
    t.equal(await drill.ask('mary', '/engine'), 200, 'Basic still works')
  },

  GatewayNotEnforcing: async (t, alert) => {
    const records = { source: 'file', file: 'records.yaml' }
    const settings = { authorization: { mode: 'report', records } }
    const drill = await openDrill(t, { alert, nodes: [(await startEngineNode(t)).base], settings })
    const body = JSON.stringify({ id: 'g', name: 'g', type: 'WORKFLOW' })
    const create = () => drill.ask('nobody', '/group/create', { method: 'POST', body })
    t.equal(await create(), 204, 'nothing is refused')
    t.match(await drill.fires(), {
      labels: { engine: 'default', section: 'authorization', mode: 'report' },
    })
    t.match(await drill.follow('Diagnosis'), /mode="report".*stage="permit-report".*"mode":"report"/s)
    t.match(await drill.follow('Mitigation'), /is good.*"applied"/s)
    await drill.ends()
    t.equal(await create(), 403)
  },

  GatewaySourceDown: async (t, alert) => {
    const drill = await openPlain(t, alert)
    const file = join(drill.folder, 'records.yaml')
    const good = readFileSync(file, 'utf8')
    await drill.write('records.yaml', 'authorizations: [{ type: 7 }]')
    t.match(await drill.fires(), { labels: { engine: 'default', source: 'records' } })
    t.match(await drill.follow('Diagnosis'), /source="records"\} 0.*records of default: /s)
    await drill.write('records.yaml', good)
    await drill.follow('Mitigation')
    await drill.ends()
  },

  GatewayConfigRefused: async (t, alert) => {
    const drill = await openPlain(t, alert)
    const good = readFileSync(join(drill.folder, 'gateway.yaml'), 'utf8')
    await drill.change({ cahce: {} })
    await drill.fires()
    t.match(await drill.follow('Diagnosis'), /"refused".*cahce.*last_reload_successful 0/s)
    await drill.write('gateway.yaml', good)
    t.match(await drill.follow('Mitigation'), /is good.*"applied"/s)
    await drill.ends()
  },

  GatewayCertificateEnding: async (t, alert) => {
    const certificate = makeCertificate(t, { days: 90 })
    const drill = await openWithTls(t, alert, certificate)
    // The certificate now expires soon.
    certificate.renew(5)
    t.match(await drill.fires(), {
      labels: { certificate: 'listen.tls.cert', severity: 'warning' },
      annotations: { summary: /expires in 4d 23h/ },
    })
    const ending = await drill.follow('Diagnosis')
    t.match(ending, /certificate="listen\.tls\.cert"\} \d+\n.*Not After.*expire date: /s)
    certificate.renew(91)
    await drill.ends()
    // Both renewals are logged. The metric reads the file itself, so the alert may end before the second line is logged.
    while (timesLogged(drill, 'certificate reloaded') < 2) await wait(200)
    const renewed = await drill.follow('Mitigation')
    t.match(renewed, /is good.*expire date: /s)
    t.not(shownEndIn(renewed), shownEndIn(ending), 'clients are shown the new one')
    t.equal(shownEndIn(renewed), fileEndIn(renewed))
    t.equal(timesLogged(drill, 'listening'), 1, 'nothing was started again')
  },

  GatewayTlsFilesInvalid: async (t, alert) => {
    const certificate = makeCertificate(t, { days: 90 })
    const drill = await openWithTls(t, alert, certificate)
    const putBack = certificate.swapKey()
    t.match(await drill.fires(), { labels: { section: 'listen.tls', severity: 'critical' } })
    const told = await drill.follow('Diagnosis')
    t.match(told, /section="listen\.tls"\} 0/)
    const [ofCertificate, ofKey] = [...told.matchAll(/= ([0-9a-f]{64})$/gm)].map(([, digest]) => digest)
    t.type(ofKey, 'string')
    t.not(ofKey, ofCertificate, 'the commands tell the difference')
    const problem = 'cannot use a certificate or key; the files that were loaded before stay in use'
    t.equal(timesLogged(drill, problem), 1)
    putBack()
    t.match(await drill.follow('Mitigation'), /is good.*"applied".*expire date: /s)
    await drill.ends()
  },

  GatewayRedisDown: async (t, alert) => {
    const redis = await startRedis()
    const node = await startEngineNode(t)
    const settings = { cache: { redis: redis.url } }
    const drill = await openDrill(t, { alert, nodes: [node.base], settings, env: { REDIS_URL: redis.url } })
    t.teardown(redis.stop)
    await redis.stop()
    await drill.fires()
    t.match(await drill.follow('Diagnosis'), /gateway_redis_up 0.*Redis does not respond/s)
    const again = await startRedis({ port: redis.port })
    t.teardown(again.stop)
    t.match(await drill.follow('Mitigation'), /PONG/)
    await drill.ends()
  },

  GatewayIdempotencyFailing: async (t, alert) => {
    const redis = await startRedis()
    const node = await startEngineNode(t)
    const settings = { cache: { redis: redis.url } }
    const drill = await openDrill(t, { alert, nodes: [node.base], settings, env: { REDIS_URL: redis.url } })
    t.teardown(redis.stop)
    const body = JSON.stringify({ name: 'paid' })
    let keys = 0
    const signal = () => {
      keys += 1
      const headers = { 'idempotency-key': `drill-${keys}` }
      return drill.ask('demo', '/signal', { method: 'POST', body, headers })
    }
    t.equal(await signal(), 204)
    await redis.stop()
    const client = keep(t, signal, { pauseMs: 200 })
    t.match(await drill.fires(), { labels: { engine: 'default', result: 'unavailable' } })
    t.match(await drill.follow('Diagnosis'), /result="unavailable"\} [1-9].*gateway_redis_up 0/s)
    const again = await startRedis({ port: redis.port })
    t.teardown(again.stop)
    while ((await drill.metric('gateway_redis_up')) !== 1) await wait(200)
    t.match(await drill.follow('Mitigation'), /PONG.*gateway_redis_up 1/s)
    await drill.ends()
    await client.stop()
    t.equal(await signal(), 204)
  },

  GatewayRedisRemovesKeys: async (t, alert) => {
    const redis = await startRedis({ args: ['--maxmemory', '64mb', '--maxmemory-policy', 'allkeys-lru'] })
    t.teardown(redis.stop)
    const node = await startEngineNode(t)
    const settings = { cache: { redis: redis.url } }
    const drill = await openDrill(t, { alert, nodes: [node.base], settings, env: { REDIS_URL: redis.url } })
    const body = JSON.stringify({ name: 'paid' })
    const headers = { 'idempotency-key': 'drill' }
    t.equal(await drill.ask('demo', '/signal', { method: 'POST', body, headers }), 204)
    await drill.fires()
    t.match(
      await drill.follow('Diagnosis'),
      /gateway_redis_removes_keys 1.*maxmemory_policy:allkeys-lru.*evicted_keys:0/s,
    )
    t.match(await drill.follow('Mitigation'), /OK/)
    await drill.ends()
  },

  GatewayRedisCorrupt: async (t, alert) => {
    const redis = await startRedis()
    t.teardown(redis.stop)
    const node = await startEngineNode(t)
    const settings = { cache: { redis: redis.url } }
    const drill = await openDrill(t, { alert, nodes: [node.base], settings, env: { REDIS_URL: redis.url } })
    const command = (...args: readonly string[]) =>
      execFileSync('redis-cli', ['-u', redis.url, ...args], { encoding: 'utf8' })
    // Simulates another application that writes to the keys of the gateway. The gateway reads them when its own entries have expired.
    const writer = keep(
      t,
      async () => {
        await drill.ask('demo', '/external-task/topic-names')
        for (const key of command('--scan', '--pattern', '*entry:*').split('\n'))
          if (key !== '') command('set', key, 'of another application', 'px', '60000')
      },
      { pauseMs: 200 },
    )
    await drill.fires()
    t.match(await drill.follow('Diagnosis'), /result="corrupt"\} [1-9].*addr=/s)
    await writer.stop()
    t.match(await drill.follow('Mitigation'), /removed from 1 process and from Redis/)
    await drill.ends()
  },

  GatewayCacheIneffective: async (t, alert) => {
    const node = await startEngineNode(t)
    const drill = await openDrill(t, {
      alert,
      nodes: [node.base],
      settings: { cache: { memory: { maxBytes: '0B' } } },
    })
    keep(t, () => drill.ask('demo', '/external-task/topic-names'), { pauseMs: 50 })
    await drill.fires()
    t.match(await drill.follow('Diagnosis'), /result="refused".*cache-status: /is)
    t.match(await drill.follow('Mitigation'), /"applied"/)
    await drill.ends()
  },

  GatewayLongPollsParked: async (t, alert) => {
    const node = await startEngineNode(t)
    const settings = { limits: { longPolls: { perNode: 1 } } }
    const drill = await openDrill(t, { alert, nodes: [node.base], settings })
    const ask = {
      maxTasks: 1,
      asyncResponseTimeout: 600_000,
      topics: [{ topicName: 'mail', lockDuration: 1000 }],
    }
    for (const workerId of ['a', 'b', 'c']) {
      const body = JSON.stringify({ workerId, ...ask })
      keep(t, () => drill.ask('demo', '/external-task/fetchAndLock', { method: 'POST', body }), {
        pauseMs: 100,
      })
    }
    t.match(await drill.fires(), { labels: { engine: 'default', state: 'waiting' } })
    t.match(await drill.follow('Diagnosis'), /state="waiting"\} 2/)
    t.match(await drill.follow('Mitigation'), /"applied"/)
    await drill.ends()
  },

  GatewayEventLoopLate: async (t, alert) => {
    const drill = await openPlain(t, alert)
    // Simulates a CPU limit, with which a process runs only during a part of each period.
    const throttle = keep(t, async () => {
      process.kill(drill.gateway.pid(), 'SIGSTOP')
      await wait(300)
      process.kill(drill.gateway.pid(), 'SIGCONT')
      await wait(150)
    })
    await drill.fires()
    t.match(await drill.follow('Diagnosis'), /nodejs_eventloop_lag_p99_seconds 0\.[2-9]/)
    await throttle.stop()
    await drill.follow('Mitigation')
    await drill.ends()
  },

  GatewayMemoryHigh: async (t, alert) => {
    const drill = await openDrill(t, {
      alert,
      nodes: [(await startEngineNode(t)).base],
      settings: { limits: { pressure: { memory: '1000MiB' } } },
    })
    const ratio = (await drill.metric('gateway_pressure_ratio{kind="memory"}')) ?? 0
    const limit = Math.floor(ratio * 1000 * MIB * 0.8)
    await drill.change({ limits: { pressure: { memory: `${limit}B` } } })
    t.match(await drill.fires(), { labels: { kind: 'memory' } })
    await drill.follow('Diagnosis')
    t.match(await drill.follow('Mitigation'), /"applied"/)
    await drill.ends()
  },

  GatewayLinesLost: async (t, alert) => {
    const disk = await mountFull(t)
    const drill = await openDrill(t, {
      alert,
      nodes: [(await startEngineNode(t)).base],
      settings: { limits: { pressure: { eventLoopDelay: null } } },
      auditFolder: disk.folder,
    })
    disk.fill()
    const body = JSON.stringify({ id: 'g', name: 'g', type: 'WORKFLOW' })
    const headers = { 'x-request-id': 'r'.repeat(128) }
    const refused = () => drill.ask('nobody', '/group/create', { method: 'POST', body, headers })
    const load = keep(t, refused, { atOnce: 50 })
    t.match(await drill.fires(), { labels: { stream: 'audit' } })
    await load.stop()
    t.match(await drill.follow('Diagnosis'), /stream="audit"\} [1-9].*100%.*audit lines are lost/s)
    disk.giveRoom()
    t.match(await drill.follow('Mitigation'), /"applied"/)
    await drill.ends()
    t.ok(drill.lines().some(({ msg }) => msg === 'audit lines are written again'))
  },

  GatewayLinesWaiting: async (t, alert) => {
    const disk = await mountFull(t)
    const drill = await openDrill(t, {
      alert,
      nodes: [(await startEngineNode(t)).base],
      settings: { audit: { required: true } },
      auditFolder: disk.folder,
    })
    disk.fill()
    const body = JSON.stringify({ id: 'g', name: 'g', type: 'WORKFLOW' })
    const create = () => drill.ask('nobody', '/group/create', { method: 'POST', body })
    // The last page of the file has room for a few lines.
    const load = keep(t, create, { pauseMs: 100 })
    t.match(await drill.fires(), { labels: { stream: 'audit' } })
    await load.stop()
    t.equal(await create(), 503)
    t.match(await drill.follow('Diagnosis'), /waiting_seconds\{stream="audit"\} [1-9].*100%.*ENOSPC/s)
    disk.giveRoom()
    t.match(await drill.follow('Mitigation'), /"applied"/)
    await drill.ends()
    t.equal(await create(), 403)
    t.equal(await drill.metric('gateway_log_lines_lost_total{stream="audit"}'), 0)
  },

  GatewayDeploymentSkew: async (t, alert) => {
    const [node, other] = [await startEngineNode(t), await startEngineNode(t)]
    const nodes = [node.base, other.base]
    const settings = { engines: { default: { nodes, deploymentAware: true } } }
    other.state.registered = ['a']
    node.state.registered = ['a']
    const drill = await openDrill(t, { alert, nodes, settings })
    other.state.registered = ['a', 'b']
    t.match(await drill.fires(), { labels: { node: node.base } })
    t.match(await drill.follow('Diagnosis'), /missing\{.*\} 1\n.*\["a"\]/s)
    node.state.registered = ['a', 'b']
    await drill.follow('Mitigation')
    await drill.ends()
  },

  GatewayVersionSkew: async (t, alert) => {
    const texts = { other: '' }
    const other = createServer((_request, response) => void response.end(texts.other)).listen(0, '127.0.0.1')
    await once(other, 'listening')
    t.teardown(() => other.close())
    const nodes = [(await startEngineNode(t)).base]
    const drill = await openDrill(t, { alert, nodes, settings: {}, targets: [hostOf(other)] })
    // For Prometheus, this server is a replica of another version.
    texts.other = 'gateway_info{version="0.0.1"} 1\n'
    await drill.fires()
    t.match(await drill.follow('Diagnosis'), /gateway_info\{version=/)
    t.match(await drill.follow('Mitigation'), /is good/)
    other.close()
    other.closeAllConnections()
    await drill.ends()
  },

  GatewayWorkerRestarts: async (t, alert) => {
    const nodes = [(await startEngineNode(t)).base]
    const drill = await openDrill(t, { alert, nodes, settings: { workers: 6 } })
    const pids = () => {
      const listening = drill.lines().filter(({ msg }) => msg === 'worker is listening')
      return [...new Map(listening.map(({ worker, pid }) => [Number(worker), Number(pid)])).values()]
    }
    const all = async (count: number) => {
      while ((await drill.metric('gateway_workers')) !== count) await wait(200)
    }
    await all(6)
    const [first = 0] = pids()
    process.kill(first, 'SIGKILL')
    // The series begins with the first restart. Only later restarts increase it.
    await wait(3 * SECOND_MS)
    await all(6)
    for (const pid of pids()) process.kill(pid, 'SIGKILL')
    await drill.fires()
    t.match(await drill.follow('Diagnosis'), /restarts_total\{reason="signal"\} 7.*worker exited/s)
    await all(6)
    t.match(await drill.follow('Mitigation'), /^gateway_workers 6$/m)
    await drill.ends()
  },
}

/** Returns an engine with two groups of nodes. The other one gets a share of the reads. */
function groupsOf(old: EngineNode, other: EngineNode, reads: string) {
  const nodes = [
    { url: old.base, group: 'old' },
    { url: other.base, group: 'new' },
  ]
  return { nodes, shift: { to: 'new', reads, writes: '0%' } }
}

function hostOf(server: Server): string {
  const at = server.address()
  return typeof at === 'object' && at !== null ? `127.0.0.1:${at.port}` : ''
}

/** Opens a drill with one engine that has one node, and with no other settings. */
async function openPlain(t: Test, alert: string): Promise<Drill> {
  return openDrill(t, { alert, nodes: [(await startEngineNode(t)).base], settings: {} })
}

/** Opens a drill with one engine that has one node, and with a TLS listener. */
async function openWithTls(t: Test, alert: string, { cert, key }: DrillCertificate): Promise<Drill> {
  const settings = { listen: { port: 0, tls: { cert, key } } }
  const nodes = [(await startEngineNode(t)).base]
  return openDrill(t, { alert, nodes, settings, env: { CERT: cert, KEY: key } })
}

/** Returns a session token of a user that exists, which was signed with a wrong secret. */
function forgedToken(): string {
  const nowSeconds = Math.floor(Date.now() / 1000)
  const claims = { sub: 'mary', iat: nowSeconds, exp: nowSeconds + 3600 }
  const encoded = [{ alg: 'HS256', typ: 'JWT' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  const mac = createHmac('sha256', 'a wrong secret of the drill').update(encoded.join('.'))
  return [...encoded, mac.digest('base64url')].join('.')
}

function timesLogged({ lines }: Drill, words: string): number {
  return lines().filter(({ msg }) => msg === words).length
}

/** Returns the expiry date that curl prints for the certificate of a TLS handshake. */
function shownEndIn(text: string): string | undefined {
  return /expire date: (.*)$/m.exec(text)?.[1]
}

/** Returns the expiry date that openssl prints for a certificate file. */
function fileEndIn(text: string): string | undefined {
  return /Not After : (.*)$/m.exec(text)?.[1]
}

/** Mounts a disk of 16 MiB that the drill can fill. */
async function mountFull(t: Test) {
  const folder = await mkdtemp(join(tmpdir(), 'drill-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', folder])
  t.teardown(async () => {
    execFileSync('umount', ['-l', folder])
    await rm(folder, { recursive: true })
  })
  const filler = join(folder, 'filler')
  return {
    folder,
    fill: () => {
      try {
        writeFileSync(filler, Buffer.alloc(16 * MIB))
      } catch {
        // The write fails when the disk is full.
      }
    },
    giveRoom: () => rmSync(filler),
  }
}
